import { type ConditionCell, type FieldType, type RuleTable } from '@decision/contracts';
import { type ZenDecision } from '@gorules/zen-engine';
import { publishedDecision } from '../published-decision';
import { type Workload } from './workload';
import { type RoundOptions, type Rounds, summarise } from './rounds';

/** Items passed to the engine before any result is awaited. */
const CHUNK = 256;
const COMPARED = 64;

/** The fastest published engine of decision tables on the same table, called from the same process. */
const publishedEngine = (table: RuleTable): ZenDecision => publishedDecision(toDecision(table));

/** Measurements of that engine. */
export interface PublishedRounds {
  readonly plain: Rounds;
  /** With the trace of each evaluation as text, which is its cheapest form. */
  readonly traced: Rounds;
}

/** Milliseconds of processor time per item, including that engine's own threads; both modes in each round. */
export const measurePublished = async (
  { table, inputs }: Workload,
  { rounds, warmUps, milliseconds }: RoundOptions,
): Promise<PublishedRounds> => {
  const decision = publishedEngine(table);
  const evaluate = (input: Workload['inputs'][number]): Promise<unknown> => decision.evaluate(input);
  const trace = (input: Workload['inputs'][number]): Promise<unknown> => decision.evaluate(input, { trace: 'string' });
  const [plain, traced]: [number[], number[]] = [[], []];
  for (let round = -warmUps; round < rounds; round += 1) {
    const times = [
      await timePerItem(evaluate, inputs, milliseconds),
      await timePerItem(trace, inputs, milliseconds),
    ] as const;
    if (round < 0) continue;
    plain.push(times[0]);
    traced.push(times[1]);
  }
  return { plain: summarise(plain), traced: summarise(traced) };
};

/** The part of that engine's answer that is needed here: the output of the table is the number of its row. */
interface PublishedAnswer {
  readonly result: { readonly rate?: number } | null;
}

/** How many of the first inputs that engine answers with a row other than `rowOf`. */
export const countPublishedDisagreements = async (
  { table, inputs }: Workload,
  rowOf: (input: Workload['inputs'][number]) => number,
): Promise<number> => {
  const decision = publishedEngine(table);
  let differing = 0;
  for (const input of inputs.slice(0, COMPARED)) {
    const answer = (await decision.evaluate(input)) as PublishedAnswer;
    const rate = answer.result?.rate ?? -1;
    if (rate !== rowOf(input)) differing += 1;
  }
  return differing;
};

const timePerItem = async (
  evaluate: (input: Workload['inputs'][number]) => Promise<unknown>,
  inputs: Workload['inputs'],
  milliseconds: number,
): Promise<number> => {
  const start = processorTime();
  let items = 0;
  for (let from = 0; processorTime() - start < milliseconds; from = (from + CHUNK) % inputs.length) {
    const chunk = inputs.slice(from, from + CHUNK);
    await Promise.all(chunk.map(evaluate));
    items += chunk.length;
  }
  return (processorTime() - start) / items;
};

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const toDecision = ({ requestSchema, conditions }: RuleTable): object => ({
  nodes: [
    { id: 'in', name: 'in', type: 'inputNode' },
    {
      id: 'table',
      name: 'table',
      type: 'decisionTableNode',
      content: {
        hitPolicy: 'first',
        inputs: requestSchema.map(({ key }) => ({ id: key, name: key, field: key })),
        outputs: [{ id: 'rate', name: 'rate', field: 'rate' }],
        rules: conditions.map(({ request = {} }, index) => ({
          _id: String(index),
          ...Object.fromEntries(requestSchema.map(({ key, type }) => [key, toCell(request[key], type)])),
          rate: String(index),
        })),
      },
    },
    { id: 'out', name: 'out', type: 'outputNode' },
  ],
  edges: [
    { id: 'a', sourceId: 'in', targetId: 'table', type: 'edge' },
    { id: 'b', sourceId: 'table', targetId: 'out', type: 'edge' },
  ],
});

/** One condition in that engine's language; a blank one is an empty text there. */
const toCell = (cell: ConditionCell | undefined, type: FieldType): string => {
  if (cell === undefined) return '';
  const [a, b] = (cell.args ?? []).map((argument) => JSON.stringify(argument));
  const from = type === 'date' ? `date($) >= date(${a})` : `$ >= ${a}`;
  switch (cell.op) {
    case 'is true':
      return 'true';
    case 'is false':
      return 'false';
    case 'between':
      return type === 'date' ? `${from} and date($) <= date(${b})` : `[${a}..${b}]`;
    case 'is included in':
      return String(a).slice(1, -1); // a list of texts, separated by commas
    case 'greater than or equal to':
    case 'on or after':
      return from;
    case 'less than':
      return `< ${a}`;
    default:
      return String(a);
  }
};
