import { joinResults } from './answer-batch';

const run = (slug: string) => ({ type: 'rule' as const, slug, status: 'success' as const });

it('joins the results of an instance that two chunks name: its last state, and the runs of both', () => {
  const earlier = {
    ...{ instance_id: 'a', positions: [0], is_new: true, status: 'pending' as const, state: { n: 1 } },
    ...{ executed: [run('one')], triggered: true },
  };
  const later = {
    ...{ instance_id: 'a', positions: [700], is_new: false, status: 'complete' as const, state: { n: 2 } },
    ...{ executed: [run('two')], triggered: false, reason: 'inputs_unchanged' as const },
  };
  expect(joinResults(earlier, later)).toEqual({
    ...{ instance_id: 'a', positions: [0, 700], is_new: true, status: 'complete', state: { n: 2 } },
    ...{ executed: [run('one'), run('two')], triggered: true },
  });
  expect(joinResults({ instance_id: 'a', triggered: false, reason: 'not_ready' }, later)).toMatchObject({
    triggered: false,
    reason: 'inputs_unchanged',
  });
  expect(joinResults({ instance_id: 'a' }, { instance_id: 'a' })).toEqual({ instance_id: 'a' });
});

it('joins the ignored facts of both chunks, and keeps the unfinished assets of the later one', () => {
  const ignoredOf = (...facts: string[]) => facts.map((fact) => ({ fact, reason: `not ${fact}` }));
  const stopped = { unfinished: ['rule:r'], stopped_by: 'deadline' };
  const one = { instance_id: 'a', ignored: ignoredOf('x'), ignored_count: 1 };
  const many = { instance_id: 'a', ignored: ignoredOf(...Array.from({ length: 100 }, String)), ignored_count: 700 };
  expect(joinResults({ ...one, ...stopped }, { instance_id: 'a' })).toEqual(one);
  expect(joinResults({ instance_id: 'a' }, { ...one, ...stopped })).toEqual({ ...one, ...stopped });
  const joined = joinResults(one, many);
  expect(joined.ignored_count).toBe(701);
  expect(joined.ignored).toEqual([...one.ignored, ...many.ignored.slice(0, 99)]);
});
