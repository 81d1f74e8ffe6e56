"""What a person sees of a golden question set, and what programs read of it."""

from __future__ import annotations

from collections import Counter

from evalcli.declarations.question_set import GoldenQuestion, QuestionSet
from evalcli.reports.number_words import count
from evalcli.reports.plain_text import plain_text
from evalcli.reports.text_layout import Page


def write_questions(question_set: QuestionSet, page: Page) -> None:
    """Add how many questions there are of each form and hard class, then every question."""
    forms = Counter(question.form.value for question in question_set.questions)
    classes = Counter(one.hard_class for one in question_set.questions if one.hard_class)
    page.label("forms", _counts(forms))
    if classes:
        page.label("hard classes", _counts(classes))
    for question in question_set.questions:
        page.blank()
        _write_question(question, page)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{plain_text(name)} {number:,}" for name, number in counter.most_common())


def _write_question(question: GoldenQuestion, page: Page) -> None:
    facts = [question.form.value]
    if question.hard_class is not None:
        facts.append(plain_text(question.hard_class))
    page.say(f"   {', '.join(facts)}", lead=plain_text(question.id), style="bold")
    page.label("question", plain_text(question.question))
    page.label("expected", _expected(question))
    if question.gist is not None:
        page.label("gist", plain_text(question.gist))


def _expected(question: GoldenQuestion) -> str:
    grades = question.grades
    if not grades:
        return "nothing"
    has_grades = set(grades.values()) != {1}
    return ", ".join(
        f"{plain_text(one)} (grade {grade})" if has_grades else plain_text(one)
        for one, grade in grades.items()
    )


def question_count(question_set: QuestionSet) -> str:
    """Say how many questions a set has."""
    return count(len(question_set.questions), "question")


def question_set_facts(question_set: QuestionSet) -> dict[str, object]:
    """Describe a question set as JSON values; expected documents always with their grades."""
    facts = question_set.model_dump(mode="json", exclude={"questions"})
    facts["questions"] = [
        {
            **question.model_dump(mode="json", exclude={"expected"}),
            "expected": dict(question.grades),
        }
        for question in question_set.questions
    ]
    return facts
