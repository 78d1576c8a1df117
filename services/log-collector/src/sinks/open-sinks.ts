import { readFileSync } from 'node:fs';
import { type TopicKey, topicName, topics } from '@decision/contracts';
import { createDeadLetters, readSinks, type SinkSettings } from '@decision/decision-sinks';
import { StartRefusal } from '@decision/service-kit';
import { type CollectorConfig } from '../config';

type SinksConfig = Pick<CollectorConfig, 'sinks' | 'sinkDeadLetterDir' | 'sinkDeadLetterBytes' | 'mqTopicPrefix'>;

/** Maximum bytes of a file of sinks, or of a secret. */
const LARGEST_FILE = 1_048_576;

/** Reads the configured sinks, if any, and makes their dead-letter files. Rejects with `StartRefusal` that lists all faults. */
export const openSinks = async (config: SinksConfig): Promise<readonly SinkSettings[]> => {
  const { sinks: path, sinkDeadLetterDir: folder, mqTopicPrefix } = config;
  if (path === undefined) return [];
  const problems: string[] = [];
  const ownTopics = (Object.keys(topics) as TopicKey[]).map((topic) => topicName(mqTopicPrefix, topic)); // the keys of the catalogue
  const read = readSinks(readOrTell(path, problems) ?? '{"sinks": []}', {
    ownTopics,
    readSecret: (file) => readBounded(file).replace(/[\r\n]+$/, ''),
  });
  if (!read.ok) problems.push(...read.problems);
  if (folder === undefined)
    problems.push('LOG_SINK_DEAD_LETTER_DIR is not set; name a folder for what sinks do not take.');
  else if (read.ok) problems.push(...(await prepareDeadLetters(read.sinks, folder, config.sinkDeadLetterBytes)));
  if (problems.length > 0 || !read.ok)
    throw new StartRefusal(
      [`LOG_SINKS (${path}) cannot be used:`, ...problems.map((line) => `  - ${line}`)].join('\n'),
    );
  return read.sinks;
};

const readBounded = (path: string): string => {
  const bytes = readFileSync(path);
  if (bytes.length > LARGEST_FILE) throw Object.assign(new RangeError('It is too large.'), { code: 'EFBIG' });
  return bytes.toString();
};

const readOrTell = (path: string, problems: string[]): string | undefined => {
  try {
    return readBounded(path);
  } catch (error) {
    problems.push(
      `The file cannot be read (${codeOf(error)}); it must be a file of JSON of at most ${LARGEST_FILE} bytes.`,
    );
    return undefined;
  }
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown'; // only used for its code

const prepareDeadLetters = async (
  sinks: readonly SinkSettings[],
  folder: string,
  maxBytes: number,
): Promise<readonly string[]> => {
  for (const { name } of sinks)
    try {
      await createDeadLetters({ folder, sink: name, maxBytes }).prepare();
    } catch (error) {
      return [`LOG_SINK_DEAD_LETTER_DIR (${folder}) cannot be written (${codeOf(error)}).`];
    }
  return [];
};
