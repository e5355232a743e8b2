"""What a reader must know about some votes before believing their grades: found once, said by every command."""
