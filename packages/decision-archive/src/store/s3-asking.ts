import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs, withDeadline } from '@decision/waiting';
import { ArchiveError } from '../archive-error';

/** Asks a store until it answers as it should, within bounds of time and number. */
export interface Asking {
  /**
   * Makes attempts until one succeeds. `bytes` is what an attempt carries.
   * @throws {ArchiveError} `store_failed`, after the last attempt or one whose answer does not change by asking again.
   */
  <T>(what: AskedFor, attempt: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface AskedFor {
  /** Ends the sentence "The archive s3://bucket did not ...", such as `keep "key"`. */
  readonly task: string;
  readonly bytes?: number;
}

/** An answer that is not what it should be, such as half of an object; `what` ends the sentence "it ...". */
export class DamagedAnswer extends Error {
  override readonly name = 'DamagedAnswer';
}

const ATTEMPTS = 3;
/** A connection that carries fewer bytes a millisecond counts as hanging. */
const SLOWEST = 256;
/** Errors with a status that tells of a wrong request, which the next attempt may not meet. */
const PASSING = ['RequestTimeout', 'RequestTimeTooSkewed', 'BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch'];

export interface AskingBounds {
  /** Longest time of one attempt, ms; a millisecond more for each 256 bytes that it carries. Default 30 s. */
  readonly deadlineMs?: number;
  /** Pause before the second attempt, ms; it doubles before the third. Default 200 ms. */
  readonly pauseMs?: number;
}

/** Makes what asks a store; `place` names it in errors. */
export const createAsking =
  (place: string, { deadlineMs = 30_000, pauseMs = 200 }: AskingBounds): Asking =>
  async ({ task, bytes = 0 }, attempt) => {
    const ms = Math.ceil(deadlineMs + bytes / SLOWEST);
    for (let failures = 1; ; failures += 1) {
      const ending = new AbortController();
      try {
        return await withDeadline(
          attempt(ending.signal),
          ms,
          () => new DamagedAnswer(`did not answer within ${ms} ms`),
        );
      } catch (error) {
        if (failures >= ATTEMPTS || !isPassing(error)) throw failureOf({ place, task, failures }, error);
      } finally {
        ending.abort();
      }
      await delay(backOffMs(failures, { initialMs: pauseMs, maxMs: 2 * pauseMs }));
    }
  };

interface StoreAnswer {
  /** Undefined where nothing was answered. */
  readonly status: number | undefined;
  readonly name: string;
}

const answerOf = (error: unknown): StoreAnswer => {
  const { name, $metadata, $response } = Object(error) as {
    readonly name?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
    readonly $response?: { readonly statusCode?: number };
  }; // anything has members that are not there
  return { status: $response?.statusCode ?? $metadata?.httpStatusCode, name: typeof name === 'string' ? name : '' };
};

/** Whether what an attempt threw is an answer with this status. */
export const refusedWith = (error: unknown, status: number): boolean => answerOf(error).status === status;

const isPassing = (error: unknown): boolean => {
  if (error instanceof ArchiveError) return false;
  const { status, name } = answerOf(error);
  if (status === undefined || PASSING.includes(name)) return true;
  return status < 300 || status >= 500 ? status !== 501 : [408, 409, 429].includes(status);
};

const failureOf = (about: { place: string; task: string; failures: number }, cause: unknown): ArchiveError => {
  if (cause instanceof ArchiveError) return cause;
  const times = about.failures === 1 ? '' : ` (${about.failures} attempts)`;
  const message = `The archive ${about.place} did not ${about.task}: it ${whatHappened(cause)}${times}.${wayOut(cause)}`;
  return new ArchiveError('store_failed', message, { cause });
};

/** Only names and codes: messages of a store may repeat what it was sent. */
const whatHappened = (cause: unknown): string => {
  if (cause instanceof DamagedAnswer) return cause.message;
  const { status, name } = answerOf(cause);
  const shown = /^[A-Za-z][\w.]{0,79}$/.test(name) ? name : 'an unknown error';
  if (status !== undefined)
    return status < 300 ? `answered ${status} with what is no answer (${shown})` : `answered ${status} (${shown})`;
  const { code } = Object(cause) as { readonly code?: unknown }; // anything has members that are not there
  return `could not be asked (${typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : shown})`;
};

const wayOut = (cause: unknown): string => {
  const { status, name } = answerOf(cause);
  if (name === 'CredentialsProviderError')
    return ' No credentials were found where clients of S3 look for them: their environment, files, container or instance.';
  if (name === 'NoSuchBucket') return ' Make the bucket, or name another.';
  if (status === 401 || status === 403)
    return ' Its credentials must be valid and may read, list, put and delete objects.';
  if (status === 301 || status === 307) return ' The bucket is of another region: name that one.';
  return '';
};
