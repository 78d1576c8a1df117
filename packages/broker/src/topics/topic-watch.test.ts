import { ServiceError } from '@decision/contracts';
import type { TopicProblem } from './topic-check';
import { type TopicWatch, watchTopics } from './topic-watch';

const problem = (sentence: string): TopicProblem => ({
  topic: 'solution',
  name: 'acme.solution',
  kind: 'messages_too_small',
  isWarning: false,
  problem: sentence,
});

let watch: TopicWatch;
let lines: string[];
afterEach(() => watch.stop());

/** A watch whose looks find, one after the other, what is given; the last of it for ever. */
const watching = (...looks: (readonly TopicProblem[] | Error)[]) => {
  lines = [];
  let looked = 0;
  const write =
    (level: string) =>
    (_fields: object, message: string): void =>
      void lines.push(`${level}: ${message}`);
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const check = (): Promise<readonly TopicProblem[]> => {
    const found = looks[Math.min(looked++, looks.length - 1)] ?? [];
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
  };
  watch = watchTopics({ check, log, everyMs: 1 });
  return { looked: () => looked };
};

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
};

it('looks once where all fits, and says nothing', async () => {
  const { looked } = watching([]);
  await until(() => watch.problems() !== undefined);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([looked(), watch.problems(), lines]).toEqual([1, [], []]);
});

it('says each problem once, a new one when it comes, and that all fits in the end', async () => {
  const [a, b] = [problem('A.'), problem('B.')];
  watching([a], [a], [a, b], []);
  await until(() => watch.problems()?.length === 0);
  expect(lines).toEqual(['error: A.', 'error: B.', 'info: The topics fit now.']);
});

it('goes on asking a broker that does not answer, and says so once', async () => {
  const away = new ServiceError('broker_unavailable', 'The broker is away.');
  const { looked } = watching(away, away, away, [problem('A.')]);
  await until(() => watch.problems() !== undefined);
  expect(lines).toEqual(['warn: The topics could not be checked yet', 'error: A.']);
  expect(looked()).toBeGreaterThanOrEqual(4);
});

it('looks no more once it has been stopped', async () => {
  const { looked } = watching([problem('A.')]);
  await watch.stop();
  const before = looked();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(looked()).toBe(before);
});
