"""The paper, made again: every table and figure, and its experiment on census records (`make paper`)."""
