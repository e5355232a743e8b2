"""Who may ask, how much, and from where: keys, limits, hosts, and the shield that every request passes."""
