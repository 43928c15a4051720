"""ragkit.datasets on small files in the published formats, written here, and on the real ones where they are."""

import gzip
import json

import pytest

from ragkit import datasets
from ragkit.metrics import support_scores

HOTPOT = [
    {
        "_id": "h1",
        "question": "Where was the maker's founder born?",
        "answer": "Skerrin",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [["Aster", 0], ["Founder", 1]],
        "context": [["Aster", ["It boils.", " It is red."]], ["Founder", ["She made it.", "Born in Skerrin."]]],
    },
    {
        "_id": "h2",
        "question": "Are both red?",
        "answer": "no",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["Aster", 1], ["Wren", 0]],
        "context": [["Aster", ["It boils.", " It is red."]], ["Wren", ["It is green."]]],
    },
]
MUSIQUE = [
    {
        "id": "2hop__1_2",
        "question": "Who leads the owner of Tindall?",
        "answer": "Lorne Ashby",
        "answer_aliases": ["Ashby"],
        "answerable": True,
        "paragraphs": [
            {"idx": 0, "title": "ACME", "paragraph_text": "Led by Lorne Ashby.", "is_supporting": True},
            {"idx": 1, "title": "ACME", "paragraph_text": "Founded in 1950.", "is_supporting": False},
            {"idx": 2, "title": "Tindall", "paragraph_text": "Owned by ACME.", "is_supporting": True},
        ],
        "question_decomposition": [
            {"id": 1, "question": "Who owns Tindall?", "answer": "ACME", "paragraph_support_idx": 2},
            {"id": 2, "question": "Who leads #1?", "answer": "Lorne Ashby", "paragraph_support_idx": 0},
        ],
    },
    {
        "id": "2hop__3_4",
        "question": "Who leads the owner of Nobody?",
        "answer": "",
        "answer_aliases": [],
        "answerable": False,
        "paragraphs": [
            {"idx": 0, "title": "ACME", "paragraph_text": "Led by Lorne Ashby.", "is_supporting": False},
        ],
        "question_decomposition": [{"id": 3, "question": "?", "answer": "", "paragraph_support_idx": None}],
    },
]


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def beir(folder, qrels="query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n"):
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": "d1", "title": "Aster", "text": "A kettle, 3\u00a0kW."}, {"_id": "d2", "text": "No title."}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    queries = [{"_id": "q2", "text": "not judged"}, {"_id": "q1", "text": 'a "kettle'}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def test_beir_keeps_judged_queries_gains_and_missing_titles(tmp_path):
    dataset = datasets.read_beir(beir(tmp_path / "set"))
    assert [(p.id, p.title, p.full_text) for p in dataset.passages] == [
        ("d1", "Aster", "Aster\nA kettle, 3\u00a0kW."),
        ("d2", "", "No title."),
    ]
    (question,) = dataset.questions
    assert (question.id, question.text, question.split) == ("q1", 'a "kettle', "test")
    assert question.relevant == {"d1": 2, "d2": 0}


def test_beir_reads_gzip_and_trec_judgements(tmp_path):
    folder = beir(tmp_path / "set")
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress((folder / "corpus.jsonl").read_bytes()))
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels.set.test.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    assert [q.relevant for q in datasets.read_beir(folder).questions] == [{"d2": 1}, {"d1": 1}]


@pytest.mark.parametrize(
    ("qrels", "complaint"),
    [
        ("q1\td1\tmuch\n", r"test.tsv, line 1: score"),
        ("q1\td1\n", r"test.tsv, line 1: must have 3 columns"),
        ("q1\td9\t1\n", r"test.tsv: judges the document 'd9'"),
        ("q9\td1\t1\n", r"test.tsv: judges the query 'q9'"),
    ],
)
def test_beir_names_file_and_line_of_bad_judgements(tmp_path, qrels, complaint):
    with pytest.raises(ValueError, match=complaint):
        datasets.read_beir(beir(tmp_path / "set", qrels))


def test_beir_names_what_is_missing(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        datasets.read_beir(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="corpus"):
        datasets.read_beir(tmp_path)
    folder = beir(tmp_path / "set")
    with pytest.raises(ValueError, match="judgements for 'dev'"):
        datasets.read_beir(folder, split="dev")
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"_id": 7, "text": "y"}\n')
    with pytest.raises(ValueError, match=r"corpus.jsonl, record 2: _id must be str"):
        datasets.read_beir(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"_id"')
    with pytest.raises(ValueError, match=r"corpus.jsonl, line 2: is no JSON"):
        datasets.read_beir(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n' * 2)
    with pytest.raises(ValueError, match="'d1' more than once"):
        datasets.read_beir(folder)


def test_hotpotqa_pools_paragraphs_and_keeps_sentence_support(tmp_path):
    dataset = datasets.read_hotpotqa(write(tmp_path / "hotpot.json", HOTPOT))
    assert [p.id for p in dataset.passages] == ["Aster", "Founder", "Wren"]
    assert dataset.passages[1].text == "She made it. Born in Skerrin."  # a blank where the file has none
    first, second = dataset.questions
    assert first.relevant == {"Aster": 1, "Founder": 1}
    assert (first.cls, second.cls, second.answer) == ("bridge", "comparison", "no")
    assert dataset.support["h1"] == (("Aster", 0), ("Founder", 1))
    assert support_scores([("Aster", 0)], dataset.support["h1"]).recall == 0.5
    assert dataset.sentences["Aster"] == ("It boils.", " It is red.")


def test_hotpotqa_gives_a_second_text_of_a_title_its_own_id(tmp_path):
    changed = json.loads(json.dumps(HOTPOT))
    changed[1]["context"][0][1] = ["Another text."]
    dataset = datasets.read_hotpotqa(write(tmp_path / "h.json", changed))
    assert [p.id for p in dataset.passages] == ["Aster", "Founder", "Aster#2", "Wren"]
    assert dataset.questions[1].relevant == {"Aster#2": 1, "Wren": 1}


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("answer", None, "record 0: answer must be str"),
        ("context", [["Aster"]], "record 0: context must hold"),
        ("context", [["Aster", "text"]], "record 0: the sentences of 'Aster'"),
        ("supporting_facts", [["Aster", "0"]], "record 0: supporting_facts must hold"),
        ("supporting_facts", [["Nowhere", 0]], "record 0: supporting_facts names 'Nowhere'"),
    ],
)
def test_hotpotqa_names_record_and_field(tmp_path, field, value, complaint):
    path = write(tmp_path / "bad.json", [{**HOTPOT[0], field: value}])
    with pytest.raises(ValueError, match=f"bad.json, {complaint}"):
        datasets.read_hotpotqa(path)
    del (row := dict(HOTPOT[0]))[field]
    with pytest.raises(ValueError, match=f"record 0: lacks the field {field}"):
        datasets.read_hotpotqa(write(path, [row]))


def test_2wiki_takes_its_types_and_a_pooled_collection(tmp_path):
    rows = [{**HOTPOT[0], "type": "compositional", "evidences": [["Aster", "maker", "Founder"]]}]
    path = write(tmp_path / "2wiki.json", rows)
    pool = [{"title": title, "text": f"About {title}."} for title in ("Wren", "Founder", "Aster", "Aster")]
    dataset = datasets.read_2wiki(path, corpus=write(tmp_path / "pool.json", pool))
    assert [p.id for p in dataset.passages] == ["Wren", "Founder", "Aster", "Aster#2"]
    assert dataset.questions[0].cls == "compositional"
    assert len(datasets.read_2wiki(path).passages) == 2
    with pytest.raises(ValueError, match=r"pool.json: lacks the passage 'Founder'"):
        datasets.read_2wiki(path, corpus=write(tmp_path / "pool.json", pool[2:]))


@pytest.mark.parametrize("lines", [True, False])
def test_musique_as_lines_or_list_numbers_titles_and_orders_the_chain(tmp_path, lines):
    path = tmp_path / "musique.jsonl"
    path.write_text("\n".join(map(json.dumps, MUSIQUE)) if lines else json.dumps(MUSIQUE))
    dataset = datasets.read_musique(path)
    assert [p.id for p in dataset.passages] == ["ACME#1", "ACME#2", "Tindall#1"]
    first, unanswerable = dataset.questions
    assert first.cls == "2hop"
    assert first.chain == ("Tindall#1", "ACME#1")
    assert first.relevant == {"ACME#1": 1, "Tindall#1": 1}
    assert first.answers == ("Lorne Ashby", "Ashby")
    assert (unanswerable.relevant, unanswerable.answers, unanswerable.chain) == ({}, (), ())


def test_musique_names_record_and_field(tmp_path):
    row = json.loads(json.dumps(MUSIQUE[0]))
    row["question_decomposition"][0]["paragraph_support_idx"] = 9
    with pytest.raises(ValueError, match=r"bad.json, record 0: question_decomposition points at paragraph 9"):
        datasets.read_musique(write(tmp_path / "bad.json", [row]))
    row = json.loads(json.dumps(MUSIQUE[0]))
    del row["paragraphs"][1]["is_supporting"]
    with pytest.raises(ValueError, match=r"record 0: lacks the field paragraphs.is_supporting"):
        datasets.read_musique(write(tmp_path / "bad.json", [row]))
    with pytest.raises(ValueError, match="no file"):
        datasets.read_musique(tmp_path / "none.json")
    with pytest.raises(ValueError, match=r"record 0: it must be an object"):
        datasets.read_musique(write(tmp_path / "bad.json", ["text"]))


def test_a_damaged_gzip_is_a_named_error(tmp_path):
    path = tmp_path / "h.json.gz"
    path.write_bytes(gzip.compress(json.dumps(HOTPOT).encode())[:-20])
    with pytest.raises(ValueError, match=r"h.json.gz"):
        datasets.read_hotpotqa(path)


@pytest.mark.parametrize("name", ["h.json", "h.jsonl"])
def test_a_file_that_is_not_utf8_is_a_named_error(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b'[{"_id": "Z\xfcrich"}]')
    with pytest.raises(ValueError, match=rf"^{name}: "):
        datasets.read_hotpotqa(path)


def test_judgements_that_are_not_utf8_are_a_named_error(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "Red."}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "Red?"}\n')
    (tmp_path / "qrels" / "test.tsv").write_bytes(b"q1\td\xfc\t1\n")
    with pytest.raises(ValueError, match=r"^test.tsv: cannot be read"):
        datasets.read_beir(tmp_path)


def test_scifact_has_its_published_size(data):
    dataset = datasets.read_beir(data / "scifact")
    assert (len(dataset.passages), len(dataset.questions)) == (5183, 300)
    assert sum(len(question.relevant) for question in dataset.questions) == 339


def test_hotpotqa_sample_agrees_with_its_pooled_collection(data):
    dataset = datasets.read_hotpotqa(data / "hipporag" / "hotpotqa_train.json")
    pool = datasets.read_passages(data / "hipporag" / "hotpotqa_train_corpus.json")
    assert len(dataset.questions) == 100
    assert {p.id: p.text for p in pool} == {p.id: p.text for p in dataset.passages}


def test_musique_sample_agrees_with_its_pooled_collection(data):
    dataset = datasets.read_musique(data / "hipporag" / "musique_train.json")
    pool = datasets.read_passages(data / "hipporag" / "musique_train_corpus.json")
    assert (len(dataset.questions), len(dataset.passages)) == (100, 1890)
    assert {(p.title, p.text) for p in pool} == {(p.title, p.text) for p in dataset.passages}
    for question in dataset.questions:
        assert set(question.chain) == set(question.relevant)
        assert len(question.chain) == int(question.cls[0])


def test_2wiki_collection_serves_the_101_questions(data):
    pool = datasets.read_passages(data / "hipporag" / "2wikimultihopqa_corpus.json")
    assert len(pool) == len({p.id for p in pool}) == 6119
    rows = [json.loads(line) for line in (data / "two_wiki_101" / "2wiki101.jsonl").read_text().splitlines()]
    assert len(rows) == 101
    for row in rows:
        assert [pool[i].title for i in row["gold_idx"]] == row["gold_titles"]
