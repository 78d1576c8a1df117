import { modelOf, NOW } from '../../test/fixtures';
import { historyOfChange, noHistory, trimHistory } from './history';

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

it('C101: the newest entries are kept, newest first', () => {
  const entries = [1, 3, 2].map((timestamp) => ({ timestamp, value: timestamp }));
  expect(trimHistory(entries, 2).map(({ value }) => value)).toEqual([3, 2]);
  expect(trimHistory(entries, 10)).toHaveLength(3);
  expect(entries.map(({ value }) => value)).toEqual([1, 3, 2]);
  const sameMoment = [
    { timestamp: 1, value: 'newer' },
    { timestamp: 1, value: 'older' },
  ];
  expect(trimHistory(sameMoment, 1)).toEqual([{ timestamp: 1, value: 'newer' }]);
  expect(noHistory('score')).toEqual([]);
});
