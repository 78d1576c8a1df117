import { modelOf, NOW } from '../../test/fixtures';
import { historyOfChange, noHistory } from './history';

const model = modelOf({
  base: [
    { key: 'score', type: 'number', track_history: true },
    { key: 'tags', type: 'list', track_history: true },
    { key: 'note', type: 'string' },
  ],
});

describe('C100: history', () => {
  it('notes each tracked fact whose value is another than before', () => {
    const entries = historyOfChange(model, { score: 1, note: 'a' }, { score: 2, note: 'b' }, NOW);
    expect([...entries]).toEqual([['score', { timestamp: NOW, value: 2 }]]);
  });

  it('notes null too, and the same value not again', () => {
    expect([...historyOfChange(model, { score: 1 }, { score: null }, NOW).values()]).toEqual([
      { timestamp: NOW, value: null },
    ]);
    expect(historyOfChange(model, { tags: [{ a: 1, b: 2 }] }, { tags: [{ b: 2, a: 1 }] }, NOW).size).toBe(0);
    expect(historyOfChange(model, {}, { score: null }, NOW).size).toBe(0);
  });

  it('of a new instance begins with its values', () => {
    expect([...historyOfChange(model, {}, { score: 1, tags: [] }, NOW).keys()]).toEqual(['score', 'tags']);
  });
});

it('of a fact without entries is empty', () => {
  expect(noHistory('score')).toEqual([]);
});
