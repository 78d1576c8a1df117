import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { createBoundHistogram } from './bound-histogram';

const DEFINITION = { name: 'waits_seconds', help: 'Waits.', buckets: [0.001, 0.5, 1] };

/** The lines, and the labels of each, sorted, since neither order matters. */
const render = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics())
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`))
    .sort();

it("exports the same text as the library's histogram for any observations", async () => {
  const observation = fc.record({
    kind: fc.constantFrom('one', 'two'),
    value: fc.oneof(fc.constantFrom(0, 0.001, 0.5, 1, 300), fc.double({ min: 0, max: 2, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(observation), async (observations) => {
      const [ours, theirs] = [new Registry(), new Registry()];
      for (const registry of [ours, theirs]) registry.setDefaultLabels({ service: 'test' });
      const bound = createBoundHistogram(ours, DEFINITION);
      const usual = new Histogram({
        ...DEFINITION,
        buckets: [...DEFINITION.buckets],
        labelNames: ['kind'],
        registers: [theirs],
      });
      const kinds = [...new Set(observations.map(({ kind }) => kind))];
      const series = new Map(kinds.map((kind) => [kind, bound.bind({ kind })]));
      for (const { kind, value } of observations) {
        series.get(kind)?.observe(value);
        usual.observe({ kind }, value);
      }
      expect(await render(ours)).toEqual(await render(theirs));
    }),
  );
});

it('exports a bound series, even without observations', async () => {
  const registry = new Registry();
  createBoundHistogram(registry, DEFINITION).bind();
  expect(await render(registry)).toContain('waits_seconds_count 0');
});
