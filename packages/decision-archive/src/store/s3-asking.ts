import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs, withDeadline } from '@decision/waiting';
import { ArchiveError } from '../archive-error';

/** Repeats a request to a store until the answer is valid, within bounds of time and number. */
export interface Asking {
  /**
   * Makes attempts until one succeeds. `bytes` is the size of the body of an attempt. @throws {ArchiveError} `store_failed`, after the last
   * attempt or after a permanent error.
   */
  <T>(what: AskedFor, attempt: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

interface AskedFor {
  /** Ends the sentence "The archive s3://bucket did not ...", such as `keep "key"`. */
  readonly task: string;
  readonly bytes?: number;
}

/** An invalid answer, such as half of an object; `what` ends the sentence "it ...". */
export class DamagedAnswer extends Error {
  override readonly name = 'DamagedAnswer';
}

const ATTEMPTS = 3;
/** A connection that carries fewer bytes per millisecond counts as hanging. */
const SLOWEST = 256;
/** Statuses of wrong requests that the next attempt may not meet. */
const PASSING = ['RequestTimeout', 'RequestTimeTooSkewed', 'BadDigest', 'IncompleteBody', 'XAmzContentSHA256Mismatch'];

export interface AskingBounds {
  /** Longest time of one attempt, ms; plus a millisecond for each 256 bytes of its body. Default 30 s. */
  readonly deadlineMs?: number;
  /** Pause before the second attempt, ms; it doubles before the third. Default 200 ms. */
  readonly pauseMs?: number;
}

/** Makes a function that runs requests to a store; `store` names the store in errors. */
export const createAsking =
  (store: string, { deadlineMs = 30_000, pauseMs = 200 }: AskingBounds): Asking =>
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
        if (failures >= ATTEMPTS || !isPassing(error)) throw failureOf({ store, task, failures }, error);
      } finally {
        ending.abort();
      }
      await delay(backOffMs(failures, { initialMs: pauseMs, maxMs: 2 * pauseMs }));
    }
  };

interface StoreAnswer {
  /** Undefined if nothing was answered. */
  readonly status: number | undefined;
  readonly name: string;
}

const answerOf = (error: unknown): StoreAnswer => {
  const { name, $metadata, $response } = Object(error) as {
    readonly name?: unknown;
    readonly $metadata?: { readonly httpStatusCode?: number };
    readonly $response?: { readonly statusCode?: number };
  }; // any value has members, perhaps undefined
  return { status: $response?.statusCode ?? $metadata?.httpStatusCode, name: typeof name === 'string' ? name : '' };
};

/** Whether an attempt threw an answer with this status. */
export const refusedWith = (error: unknown, status: number): boolean => answerOf(error).status === status;

const isPassing = (error: unknown): boolean => {
  if (error instanceof ArchiveError) return false;
  const { status, name } = answerOf(error);
  if (status === undefined || PASSING.includes(name)) return true;
  return status < 300 || status >= 500 ? status !== 501 : [408, 409, 429].includes(status);
};

const failureOf = (about: { store: string; task: string; failures: number }, cause: unknown): ArchiveError => {
  if (cause instanceof ArchiveError) return cause;
  const times = about.failures === 1 ? '' : ` (${about.failures} attempts)`;
  const message = `The archive ${about.store} did not ${about.task}: it ${whatHappened(cause)}${times}.${wayOut(cause)}`;
  return new ArchiveError('store_failed', message, { cause });
};

/** Only names and codes: messages of a store may repeat its input. */
const whatHappened = (cause: unknown): string => {
  if (cause instanceof DamagedAnswer) return cause.message;
  const { status, name } = answerOf(cause);
  const shown = /^[A-Za-z][\w.]{0,79}$/.test(name) ? name : 'an unknown error';
  if (status !== undefined)
    return status < 300 ? `answered ${status} with an invalid answer (${shown})` : `answered ${status} (${shown})`;
  const { code } = Object(cause) as { readonly code?: unknown }; // any value has members, perhaps undefined
  return `could not be asked (${typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : shown})`;
};

const wayOut = (cause: unknown): string => {
  const { status, name } = answerOf(cause);
  if (name === 'CredentialsProviderError')
    return ' No credentials were found where clients of S3 look for them: their environment, files, container or instance.';
  if (name === 'NoSuchBucket') return ' Make the bucket, or name another.';
  if (status === 401 || status === 403)
    return ' Its credentials must be valid and may read, list, put and delete objects.';
  if (status === 301 || status === 307) return ' The bucket is in another region: name that region.';
  return '';
};
