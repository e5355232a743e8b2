"""What a dataframe needs before it is read: columns made of others, its engine's own ways."""
