"""`jurors.plot`: one function a chart, each from one result to one altair chart (`pip install 'jurors[plot]'`)."""
