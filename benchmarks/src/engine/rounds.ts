/** Summary of several rounds of one measurement. */
export interface Rounds {
  readonly median: number;
  /** Interquartile range, as a share of the median. */
  readonly spread: number;
}

/** A subject of measurement: one call does a known amount of work. */
export interface Subject {
  readonly name: string;
  readonly run: () => void;
  /** Items that one call of `run` handles. */
  readonly items: number;
}

export const summarise = (values: readonly number[]): Rounds => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN;
  return { median: at(0.5), spread: (at(0.75) - at(0.25)) / at(0.5) };
};

export interface RoundOptions {
  readonly rounds: number;
  /** Rounds before the measured ones: code is compiled, and compiled again after a later subject has brought in new shapes. */
  readonly warmUps: number;
  /** How long each subject runs in each round, ms; a single call may take longer. */
  readonly milliseconds: number;
}

/**
 * Milliseconds of processor time per item, by name. Every subject runs in every round, so that other load on the machine affects all of them
 * alike.
 */
export const measureInRounds = (
  subjects: readonly Subject[],
  { rounds, warmUps, milliseconds }: RoundOptions,
): Map<string, Rounds> => {
  const seen = new Map(subjects.map(({ name }) => [name, [] as number[]]));
  for (let warmUp = 0; warmUp < warmUps; warmUp += 1)
    for (const subject of subjects) timePerItem(subject, milliseconds);
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) seen.get(subject.name)?.push(timePerItem(subject, milliseconds));
  }
  return new Map([...seen].map(([name, times]) => [name, summarise(times)]));
};

/** Processor time instead of wall time, which includes the load of others on a shared machine. */
const timePerItem = (subject: Subject, milliseconds: number): number => {
  settle(subject, milliseconds);
  const { run, items } = subject;
  const start = processorTime();
  let elapsed = 0;
  let calls = 0;
  while (elapsed < milliseconds) {
    run();
    calls += 1;
    elapsed = processorTime() - start;
  }
  return elapsed / (calls * items);
};

/** Runs the subject until it has replaced the previous subject's cache contents. */
const settle = ({ run }: Subject, milliseconds: number): void => {
  const until = processorTime() + milliseconds / 2;
  do run();
  while (processorTime() < until);
};

const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
