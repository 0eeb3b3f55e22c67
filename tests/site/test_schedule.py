"""What beat asks for, workers can do."""

from bas_site.celery import app


def test_every_task_on_the_schedule_is_registered():
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert scheduled <= set(app.tasks)
