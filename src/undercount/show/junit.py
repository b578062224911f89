"""Verdicts on requirements as JUnit XML, which every service that runs tests can show."""

from xml.etree import ElementTree as ET

from undercount.read.require.requirement import Verdict


def as_junit(verdict: Verdict) -> str:
    """Write one suite for each model and one case for each requirement.

    What is inconclusive is a failure of that type: a gate that cannot tell stays shut.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.read.require.requirement import Judgement, Verdict, parse_requirement
    >>> from undercount.show.junit import as_junit
    >>> wanted = parse_requirement("roc_auc >= 0.9")
    >>> text = as_junit(Verdict((Judgement("p", wanted, "met", Estimate(0.95, 0.93, 0.97)),)))
    >>> 'tests="1" failures="0"' in text
    True
    """
    suites = ET.Element("testsuites", {"name": "undercount", **_numbers(verdict)})
    for subject in dict.fromkeys(judgement.subject for judgement in verdict.judgements):
        part = Verdict(
            tuple(judgement for judgement in verdict.judgements if judgement.subject == subject)
        )
        suite = ET.SubElement(suites, "testsuite", {"name": subject, **_numbers(part)})
        for judgement in part.judgements:
            words = judgement.requirement.words
            case = ET.SubElement(suite, "testcase", classname=f"undercount.{subject}", name=words)
            if judgement.outcome != "met":
                failure = ET.SubElement(
                    case, "failure", type=judgement.outcome, message=str(judgement)
                )
                failure.text = judgement.words
            ET.SubElement(case, "system-out").text = judgement.words
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _numbers(verdict: Verdict) -> dict[str, str]:
    failures = sum(judgement.outcome != "met" for judgement in verdict.judgements)
    return {"tests": str(len(verdict.judgements)), "failures": str(failures)}
