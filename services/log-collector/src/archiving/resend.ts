import { hostname } from 'node:os';
import { readRecords, type UpkeepTools } from '@decision/decision-archive';
import {
  createDeadLetters,
  createDelivery,
  openTarget,
  passes,
  type SinkSettings,
  toSinkRecord,
} from '@decision/decision-sinks';
import { openBroker } from '@decision/infrastructure';
import { decisionIdOf } from '@decision/persistence';
import { brokerSettings, createLogger, createStopper, readConfig } from '@decision/service-kit';
import { settings } from '../config';
import { openSinks } from '../sinks/open-sinks';
import { type CommandOptions, CommandRefusal } from './archive-command';
import { openTools } from './open-tools';

/** An hour of a workspace from which inputs are sent. */
interface Position {
  /** YYYY-MM-DD. */
  readonly date: string;
  readonly workspaceId: string;
  /** 0 to 23. */
  readonly hour: number;
}

/** What to send, and where to. */
interface ResendOptions {
  /** Name of a sink of LOG_SINKS. */
  readonly sink: string;
  /** Rising. */
  readonly dates: readonly string[];
  /** Where an earlier command stopped. Undefined: from the beginning. */
  readonly after: string | undefined;
}

/** Interval between lines about progress, or about a sink that accepts nothing, ms. */
const TELL_MS = 10_000;
/** How long closing connections may take, ms. */
const CLOSING_MS = 5_000;
/** Exit code of a command that was interrupted. */
const INTERRUPTED = 130;
const PLACE = /^(\d{4}-\d{2}-\d{2})\/([0-9a-f-]{36})\/([01]\d|2[0-3])$/;

/** Progress of a command. */
interface Progress {
  /** Undefined before the first and after the last input. */
  position: Position | undefined;
  isWhole: boolean;
  read: number;
  passedOver: number;
  sent: number;
  buried: number;
}

/**
 * Sends the inputs of an archive to a sink, by day, workspace and hour, through the same delivery as live ones: with its filter, mask,
 * retries and dead letters, and under the same ids. Answers 0, 1 if inputs went into the dead letters, and 130 if it was interrupted; it
 * then prints how to continue.
 */
export const resend = async (options: ResendOptions, command: CommandOptions): Promise<number> => {
  const { opened, config: bounds, say, now, interrupted } = command;
  const from = readPosition(options.after, options.dates);
  const { sink, broker, deadLetters, close } = await openSink(options.sink, command.environment);
  const progress: Progress = { position: from, isWhole: false, read: 0, passedOver: 0, sent: 0, buried: 0 };
  const tell = sparingly(say, now);
  const target = openTarget(sink, broker);
  const delivery = createDelivery({
    ...{ sink, target, now, deadLetters },
    observer: {
      sent: (records) => void (progress.sent += records),
      buried: (records) => void (progress.buried += records),
      failed: (_, reason) => tell(`${reason}. It is tried again.`),
    },
  });
  const { tools, stop } = await openTools(opened, bounds);
  const signal = interrupted();
  try {
    await sendDays({ ...{ tools, sink, delivery, dates: options.dates, from, signal, say, tell, now }, progress });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await stop();
    await target.stop();
    await close();
    for (const line of summaryOf(sink.name, progress)) say(line);
  }
  if (!progress.isWhole) return INTERRUPTED;
  return progress.buried === 0 ? 0 : 1;
};

const openSink = async (name: string, environment: CommandOptions['environment']) => {
  const { sinks: file, sinkDeadLetterDir, sinkDeadLetterBytes } = settings;
  const config = readConfig({ ...brokerSettings, sinks: file, sinkDeadLetterDir, sinkDeadLetterBytes }, environment);
  const sinks = await openSinks(config);
  const sink = sinks.find((one) => one.name === name);
  if (sink === undefined) {
    const names = sinks.map((one) => one.name).join(', ') || 'none';
    throw new CommandRefusal(`LOG_SINKS names no sink "${name.slice(0, 100)}"; it names: ${names}.`);
  }
  const logger = createLogger({ service: 'log-collector', level: 'silent' });
  const stopper = createStopper();
  const broker = openBroker({
    ...{ name: 'log-collector', logger, stopper },
    config: { ...config, host: hostname(), port: 0 },
  });
  if (broker === undefined && sink.target.kind === 'kafka')
    throw new CommandRefusal(`The sink "${name}" is a topic, and MQ_BROKERS names no broker.`);
  const deadLetters = createDeadLetters({
    ...{ folder: config.sinkDeadLetterDir ?? '.', sink: name, maxBytes: config.sinkDeadLetterBytes },
  });
  return { sink, broker, deadLetters, close: () => stopper.stop(CLOSING_MS) };
};

interface SendOptions extends Pick<CommandOptions, 'say' | 'now'> {
  readonly tools: UpkeepTools;
  readonly sink: SinkSettings;
  readonly delivery: ReturnType<typeof createDelivery>;
  readonly dates: readonly string[];
  readonly from: Position | undefined;
  readonly signal: AbortSignal;
  /** Prints a line if none was printed for a while. */
  readonly tell: (line: string) => void;
  readonly progress: Progress;
}

const sendDays = async (options: SendOptions): Promise<void> => {
  const { tools, dates, from, signal, say, progress } = options;
  const folders = await tools.store.folders('decisions/');
  const workspaces = folders.map((folder) => folder.slice('workspace='.length)).sort();
  for (const date of dates.filter((one) => from === undefined || one >= from.date)) {
    const before = progress.sent;
    for (const workspaceId of workspaces) {
      const hour = firstHour({ date, workspaceId }, from);
      if (hour !== undefined) await sendDay({ date, workspaceId, hour }, options);
    }
    signal.throwIfAborted();
    say(`${date}: the sink took ${progress.sent - before} inputs.`);
  }
  progress.isWhole = true;
};

/** Sends the decisions of a workspace on a day, starting at an hour. */
const sendDay = async (first: Position, options: SendOptions): Promise<void> => {
  const { tools, sink, delivery, signal, tell, now, progress } = options;
  const { date, workspaceId, hour: fromHour } = first;
  progress.position = first;
  for await (const records of readRecords({ ...tools, workspaceId, date, fromHour })) {
    signal.throwIfAborted();
    const position = { ...first, hour: hourOf(records[0]?.decidedAt) ?? fromHour };
    progress.position = position;
    const wanted = records.filter((record) => passes(sink.filter, record));
    progress.read += records.length;
    progress.passedOver += records.length - wanted.length;
    // The time that a sink may be away starts now.
    const sending = { fields: sink.fields, decisionIdOf, writtenAt: now() };
    await delivery.deliver(
      wanted.map((record) => toSinkRecord(record, sending)),
      signal,
    );
    tell(`${told(position)}: the sink took ${progress.sent} inputs so far.`);
  }
};

const summaryOf = (name: string, { position, isWhole, ...counts }: Progress): readonly string[] => [
  `${counts.read} inputs were read: the sink "${name}" took ${counts.sent}, its filter passed over ${counts.passedOver}, and ${counts.buried} went into its dead letters.`,
  ...(isWhole ? [] : [`It stopped before its end. ${goOn(position)}`]),
];

const goOn = (position: Position | undefined): string =>
  position === undefined
    ? 'Nothing was sent.'
    : `Go on with the same dates and --after ${told(position)}; inputs of that hour may be sent again, under the same ids.`;

const told = ({ date, workspaceId, hour }: Position): string =>
  `${date}/${workspaceId}/${String(hour).padStart(2, '0')}`;

const readPosition = (text: string | undefined, dates: readonly string[]): Position | undefined => {
  if (text === undefined) return undefined;
  const [, date = '', workspaceId = '', hour] = PLACE.exec(text) ?? [];
  if (!dates.includes(date))
    throw new CommandRefusal(
      '--after is what an interrupted command said, as 2026-01-30/<workspace>/09, within --from and --to.',
    );
  return { date, workspaceId, hour: Number(hour) };
};

/** The hour to begin with; undefined if the whole day of that workspace has been sent. */
const firstHour = (at: Omit<Position, 'hour'>, from: Position | undefined): number | undefined => {
  if (from === undefined || at.date !== from.date) return 0;
  if (at.workspaceId < from.workspaceId) return undefined;
  return at.workspaceId === from.workspaceId ? from.hour : 0;
};

const hourOf = (moment: string | undefined): number | undefined =>
  moment === undefined ? undefined : new Date(moment).getUTCHours();

const sparingly = (say: (line: string) => void, now: () => number): ((line: string) => void) => {
  let toldAt = now();
  return (line) => {
    if (now() - toldAt < TELL_MS) return;
    toldAt = now();
    say(line);
  };
};
