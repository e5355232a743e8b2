"""What the server answers, by subject."""

from jurors.serve.routes.dashboard_page import router as _page
from jurors.serve.routes.posting import router as _posting
from jurors.serve.routes.projects import router as _projects

ROUTERS = (_projects, _posting, _page)
