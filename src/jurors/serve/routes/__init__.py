"""What the server answers, by subject."""

from jurors.serve.routes.dashboard_page import router as _page
from jurors.serve.routes.drawing import router as _drawing
from jurors.serve.routes.happenings import router as _happenings
from jurors.serve.routes.interface_page import router as _interface
from jurors.serve.routes.posting import router as _posting
from jurors.serve.routes.probes import router as _probes
from jurors.serve.routes.projects import router as _projects
from jurors.serve.routes.reading import router as _reading
from jurors.serve.routes.reviewing import router as _reviewing

ROUTERS = (_projects, _posting, _reading, _reviewing, _happenings, _probes, _page, _drawing, _interface)
