import fc from 'fast-check';
import { type ExecutionRecord } from './context-answers';
import { executionStatuses } from './context-words';
import { packExecutions, unpackExecutions } from './packed-executions';

const success: ExecutionRecord = {
  ...{ type: 'rule', slug: 'discount', status: 'success', effective_version: 'v1', input_hash: 'h1', run_count: 3 },
  ...{ timestamp: '2026-01-15T09:30:00.000Z', written_to_context: ['discount'], owned_facts: ['discount'] },
  last_success: { effective_version: 'v1', input_hash: 'h1' },
};

it('packs a success into what cannot be concluded', () => {
  expect(packExecutions({ 'rule:discount': success })).toEqual({
    'rule:discount': {
      ...{ run_count: 3, timestamp: '2026-01-15T09:30:00.000Z', owned_facts: ['discount'] },
      last_success: { effective_version: 'v1', input_hash: 'h1' },
    },
  });
});

it('answers complete records of an earlier release as they are', () => {
  const { owned_facts: _owned, last_success: _last, ...older } = success;
  expect(unpackExecutions({ 'rule:discount': older })).toEqual({ 'rule:discount': older });
});

const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 });
const run = { effective_version: fc.constantFrom('v1', 'v2'), input_hash: fc.constantFrom('h1', 'h2') };
const record = fc.record(
  {
    ...{ ...run, status: fc.constantFrom(...executionStatuses), run_count: fc.integer({ min: 1 }) },
    ...{ timestamp: fc.constant('2026-01-15T09:30:00.000Z'), written_to_context: names, owned_facts: names },
    ...{ failure_count: fc.integer({ min: 1 }), error: fc.string(), last_success: fc.record(run) },
  },
  {
    requiredKeys: [
      ...(['status', 'effective_version', 'input_hash', 'run_count', 'timestamp', 'written_to_context'] as const),
    ],
  },
);
const executions = fc
  .array(fc.tuple(fc.constantFrom('rule', 'flow'), fc.string(), record), { maxLength: 3 })
  .map((entries) =>
    Object.fromEntries(entries.map(([type, slug, one]) => [`${type}:${slug}`, { type, slug, ...one }])),
  );

it('unpacks what was packed', () => {
  fc.assert(
    fc.property(executions, (all) => {
      const stored = JSON.parse(JSON.stringify(packExecutions(all))) as ReturnType<typeof packExecutions>;
      expect(unpackExecutions(stored)).toEqual(all);
    }),
  );
});
