"""What crowds and annotation companies hand over: one answer a row, among a dozen columns about the work."""

from __future__ import annotations

import json

from votes.exported.exports import ITEMS, ROWS, TEXTS, TRUTH, cells, crowd, export, one_by_one

WORKERS = ["A1X9K3", "A2B7QQ", "A30FDL", "AZ11T0", "AK8PP2"]
HITS = [f"3{k:02d}ZRNTGMDV{k * k:04d}" for k in range(24)]


def crowd_exports() -> None:
    """MTurk, Toloka, Appen, Surge, Scale, SageMaker."""
    _mturk()
    _toloka()
    _appen()
    _scale()
    _surge()


def _mturk() -> None:
    head = [
        "HITId",
        "HITTypeId",
        "Title",
        "Description",
        "Keywords",
        "Reward",
        "CreationTime",
        "MaxAssignments",
        "RequesterAnnotation",
        "AssignmentDurationInSeconds",
        "AutoApprovalDelayInSeconds",
        "Expiration",
        "NumberOfSimilarHITs",
        "LifetimeInSeconds",
        "AssignmentId",
        "WorkerId",
        "AssignmentStatus",
        "AcceptTime",
        "SubmitTime",
        "AutoApprovalTime",
        "ApprovalTime",
        "RejectionTime",
        "RequesterFeedback",
        "WorkTimeInSeconds",
        "LifetimeApprovalRate",
        "Last30DaysApprovalRate",
        "Last7DaysApprovalRate",
        "Input.text",
        "Answer.label",
        "Approve",
        "Reject",
    ]
    rows = [
        [
            HITS[i], "3ABC", "Label a reply", "Is it right?", "label, text", "$0.05", "Mon Mar 04 10:00:00 PST 2024", 5,
            "BatchId:31415;", 600, 259200, "Mon Mar 11 10:00:00 PDT 2024", "", "", f"3ASG{i:02d}{j}", WORKERS[j],
            ("Submitted", "Approved")[(i + j) % 2], f"Mon Mar 04 11:{i:02d}:0{j} PST 2024",
            f"Mon Mar 04 11:{i:02d}:3{j} PST 2024", "Thu Mar 07 10:00:00 PST 2024", "", "", "", 20 + (i * j) % 11,
            "100% (12/12)", "0% (0/0)", "0% (0/0)", TEXTS[i], vote, "", "",
        ]
        for i, j, vote in one_by_one()
    ]  # fmt: skip
    text = cells(head, *rows, quote_all=True)
    export("mturk_batch", "Batch_31415_batch_results.csv", text.encode(), crowd(WORKERS, HITS))
    crowd_form = [*head[:28], "Answer.category.label", *head[29:]]
    export("mturk_crowd_form", "Batch_2.csv", cells(crowd_form, *rows, quote_all=True).encode(), crowd(WORKERS, HITS))
    boxes = [*head[:28], "Answer.taskAnswers", *head[29:]]
    nested = [
        [*row[:28], json.dumps([{"verdict": {"no": row[28] == "no", "yes": row[28] == "yes"}}]), *row[29:]]
        for row in rows
    ]
    export(
        "mturk_task_answers", "Batch_3.csv", cells(boxes, *nested, quote_all=True).encode(),
        {(hit, worker, str(vote == "no")) for hit, worker, vote in crowd(WORKERS, HITS)},
        options="--item HITId --juror WorkerId --label Answer.taskAnswers.0.verdict",
        say="--label Answer.taskAnswers.0.verdict.no",
    )  # fmt: skip


def _toloka() -> None:
    head = [
        "INPUT:text",
        "OUTPUT:result",
        "GOLDEN:result",
        "HINT:text",
        "HINT:default_language",
        "ASSIGNMENT:link",
        "ASSIGNMENT:task_id",
        "ASSIGNMENT:assignment_id",
        "ASSIGNMENT:task_suite_id",
        "ASSIGNMENT:worker_id",
        "ASSIGNMENT:status",
        "ASSIGNMENT:started",
        "ASSIGNMENT:submitted",
        "ASSIGNMENT:accepted",
        "ASSIGNMENT:reward",
    ]
    tasks = [f"0000a1--5f{k:02d}" for k in range(24)]
    rows = [
        [
            TEXTS[i], vote, "", "", "", f"https://toloka.example/task/{i}/{j}", tasks[i], f"0000a1--{i:02d}{j}aa",
            f"0000a1--s{i // 6}", WORKERS[j], "APPROVED", f"2024-03-04T11:{i:02d}:0{j}.123",
            f"2024-03-04T11:{i:02d}:4{j}.456", f"2024-03-05T09:00:0{j}.000", "0.010",
        ]
        for i, j, vote in one_by_one()
    ]  # fmt: skip
    export("toloka", "assignments_1.tsv", cells(head, *rows, mark="\t").encode(), crowd(WORKERS, tasks))


def _appen() -> None:
    head = [
        "_unit_id",
        "_created_at",
        "_golden",
        "_id",
        "_missed",
        "_started_at",
        "_tainted",
        "_channel",
        "_trust",
        "_worker_id",
        "_country",
        "_region",
        "_city",
        "_ip",
        "is_it_right",
        "is_it_right_gold",
        "is_it_right_gold_reason",
        "text",
    ]
    units = [1_883_100_000 + 13 * k for k in range(24)]
    workers = [31415926, 27182818, 16180339, 14142135, 17320508]
    rows = [
        [
            units[i], f"3/4/2024 11:{i:02d}:4{j}", "false", 4_000_000 + 100 * i + j, "", f"3/4/2024 11:{i:02d}:0{j}",
            "false", ("elite", "clixsense")[j % 2], round(0.8 + 0.03 * j, 4), workers[j], ("USA", "GBR", "IND")[j % 3],
            "", "", f"10.0.0.{j}", vote, "", "", TEXTS[i],
        ]
        for i, j, vote in one_by_one()
    ]  # fmt: skip
    export("appen_full", "f1234567.csv", cells(head, *rows).encode(), crowd([str(w) for w in workers], units))


def _scale() -> None:
    """A task a record, the answers of all who were asked in it."""
    tasks = [f"65e5{k:02x}aa" for k in range(24)]
    records = [
        {"task_id": task, "status": "completed", "created_at": "2024-03-04T11:00:00Z", "type": "categorization",
         "params": {"attachment": TEXTS[k]},
         "metadata": {"truth": TRUTH[k]},
         "worker_id": worker, "response": {"category": vote, "confidence": 0.9}}
        for k, task in enumerate(tasks) for worker, vote in zip(WORKERS, ROWS[k], strict=True)
    ]  # fmt: skip
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    every = {
        (task, worker, vote)
        for task, row in zip(tasks, ROWS, strict=True)
        for worker, vote in zip(WORKERS, row, strict=True)
    }
    export("scale_nested", "tasks.jsonl", lines, every, options="--label response.category")


def _surge() -> None:
    """A question a column, and the worker beside it."""
    head = [
        "Task ID",
        "Project",
        "Worker",
        "Created At",
        "Time Spent (Secs)",
        "text",
        "Is the reply right?",
        "Explain your choice",
    ]
    tasks = [f"{k:04d}-be12" for k in range(24)]
    rows = [
        [tasks[i], "Replies", WORKERS[j], f"2024-03-04 11:{i:02d}:0{j} UTC", 20 + i + j, TEXTS[i], vote,
         f"{ITEMS[i]} seems {vote} to me ({j})"]
        for i, j, vote in one_by_one()
    ]  # fmt: skip
    export("surge", "surge.csv", cells(head, *rows).encode(), crowd(WORKERS, tasks))
