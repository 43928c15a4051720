"""BM25 on a real collection reaches the published figure; skipped where the files are absent."""

import importlib.util
from pathlib import Path

import pytest

from ragkit.metrics import ndcg_at_k, recall_at_k
from ragkit.search import BM25

PATH = Path(__file__).resolve().parents[1] / "benchmarks" / "scifact_bm25.py"
SPEC = importlib.util.spec_from_file_location("scifact_bm25", PATH)
bench = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(bench)

pytestmark = [
    pytest.mark.skipif(not (bench.DEFAULT / "scifact").is_dir(), reason="the SciFact files are absent"),
]


@pytest.fixture(scope="module")
def data():
    return bench.read(bench.DEFAULT / "scifact")


@pytest.fixture(scope="module")
def standard_index(data):
    return BM25(data.passages, k1=0.9, b=0.4, tokenize=bench.standard)


def test_the_files_are_the_published_ones(data):
    assert (len(data.passages), len(data.queries), sum(map(len, data.qrels.values()))) == (5183, 300, 339)


def test_with_lucene_s_words_the_published_figures_are_reached(data, standard_index):
    found = bench.quality(data, standard_index)
    assert found["ndcg_cut_10"] == pytest.approx(0.678, abs=0.004)
    assert found["recall_100"] == pytest.approx(0.9253, abs=0.006)


def test_the_course_tokenizer_which_keeps_codes_whole_stays_in_the_band(data):
    found = bench.quality(data, BM25(data.passages, k1=0.9, b=0.4, tokenize=bench.course))
    assert found["ndcg_cut_10"] == pytest.approx(0.678, abs=0.004)
    assert found["recall_100"] == pytest.approx(0.9253, abs=0.006)


def test_the_course_s_own_measures_agree_with_trec_s(data, standard_index):
    ranked = {q: [hit.id for hit in standard_index(text, 100)] for q, text in data.queries.items()}
    trec, n = bench.quality(data, standard_index), len(data.qrels)
    ndcg = sum(ndcg_at_k(ranked[q], relevant, 10) for q, relevant in data.qrels.items()) / n
    recall = sum(recall_at_k(ranked[q], relevant, 100) for q, relevant in data.qrels.items()) / n
    assert ndcg == pytest.approx(trec["ndcg_cut_10"], abs=2e-3)  # trec_eval breaks ties of scores by id
    assert recall == pytest.approx(trec["recall_100"], abs=2e-3)
