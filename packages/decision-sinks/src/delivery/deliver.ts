import { backOffMs, pause } from '@decision/waiting';
import { type SinkRecord, sizeOf } from '../reading/sink-record';
import { type SinkSettings } from '../reading/sink-settings';
import { type SendOutcome, type Target } from '../targets/target';
import { type DeadLetter, type DeadLetters } from './dead-letters';

/** Observer of what happens to records. */
export interface DeliveryObserver {
  /** The sink has accepted records; the request took `ms`. */
  sent(records: number, tookMs: number): void;
  /** Records went into the dead letters. */
  buried(records: number): void;
  /** A request failed, or the dead letters cannot be written; it will be repeated. The reason is a sentence without its final dot. */
  failed(cause: 'unavailable' | 'refused' | 'dead_letters', reason: string): void;
}

interface DeliveryOptions {
  readonly sink: Pick<SinkSettings, 'batch' | 'retry'>;
  readonly target: Target;
  readonly deadLetters: Pick<DeadLetters, 'write'>;
  readonly observer: DeliveryObserver;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Delivers records to a sink. */
export interface Delivery {
  /**
   * Resolves once each record was accepted by the sink or is in the dead letters. Rejects if the signal aborts earlier; some records may
   * have been accepted. One call at a time.
   */
  deliver(records: readonly SinkRecord[], signal: AbortSignal): Promise<void>;
  /** Whether the last request failed. */
  isFailing(): boolean;
}

/**
 * After this many refusals and no acceptance in a batch, the remaining records are not sent one by one: the sink's settings are assumed to
 * be wrong.
 */
const MOST_REFUSED = 8;

/** The service stops; undelivered records will be delivered again. */
class DeliveryCut extends Error {
  override readonly name = 'DeliveryCut';
}

export const createDelivery = ({ sink, target, deadLetters, observer, now }: DeliveryOptions): Delivery => {
  const { batch, retry } = sink;
  let failures = 0;

  const fail = (cause: 'unavailable' | 'refused' | 'dead_letters', reason: string): void => {
    failures += 1;
    observer.failed(cause, reason);
  };
  const wait = async (signal: AbortSignal, atLeastMs = 0): Promise<void> => {
    await pause(Math.max(backOffMs(failures, retry), Math.min(atLeastMs, retry.maxMs)), signal);
    if (signal.aborted) throw new DeliveryCut('The service ends.');
  };
  const isGivenUp = (group: readonly SinkRecord[]): boolean =>
    failures >= retry.attempts && group.every(({ writtenAt }) => writtenAt <= now() - retry.giveUpAfterMs);

  const bury = async (letters: readonly DeadLetter[], signal: AbortSignal): Promise<void> => {
    if (letters.length === 0) return;
    for (;;)
      try {
        await deadLetters.write(letters);
        return observer.buried(letters.length);
      } catch (error) {
        fail('dead_letters', error instanceof Error ? error.message : 'unknown');
        await wait(signal);
      }
  };

  /** Sends one batch; a refused batch is halved until single records remain. */
  const deliverBatch = async (records: readonly SinkRecord[], signal: AbortSignal): Promise<void> => {
    const groups: (readonly SinkRecord[])[] = [records];
    const letters: DeadLetter[] = [];
    let taken = 0;
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      const begunAt = performance.now();
      const outcome = await target.send(group, signal);
      if (signal.aborted && outcome.kind !== 'accepted') throw new DeliveryCut('The service ends.');
      const left = remaining(group, outcome);
      const accepted = group.length - left.again.length - left.letters.length - left.halves.flat().length;
      const isHopeless =
        (taken === 0 && left.halves.length > 0 && letters.length >= MOST_REFUSED) || refusesEverything(group, outcome);
      if (accepted > 0) {
        taken += accepted;
        failures = 0;
        observer.sent(accepted, performance.now() - begunAt);
      }
      if (!isHopeless) {
        letters.push(...left.letters);
        groups.unshift(...left.halves);
      }
      const again = isHopeless ? group : left.again;
      if (outcome.kind === 'accepted' || again.length === 0) continue;
      fail(isHopeless ? 'refused' : 'unavailable', outcome.reason);
      if (isGivenUp(again)) {
        letters.push(...again.map((record) => letterOf(record, outcome)));
        continue;
      }
      groups.unshift(again);
      await wait(signal, outcome.kind === 'unavailable' ? outcome.retryAfterMs : 0);
    }
    await bury(letters, signal);
  };

  return {
    deliver: async (records, signal) => {
      for (const part of batchesOf(records, batch)) await deliverBatch(part, signal);
    },
    isFailing: () => failures > 0,
  };
};

/** Whether it refused each of many records individually. */
const refusesEverything = (group: readonly SinkRecord[], outcome: SendOutcome): boolean =>
  outcome.kind === 'partly' &&
  outcome.isFinal !== true &&
  group.length >= MOST_REFUSED &&
  outcome.refused.length === group.length;

interface Remaining {
  /** To be sent again later. */
  readonly again: readonly SinkRecord[];
  /** To be sent at once, in parts. */
  readonly halves: readonly (readonly SinkRecord[])[];
  readonly letters: readonly DeadLetter[];
}

const remaining = (group: readonly SinkRecord[], outcome: SendOutcome): Remaining => {
  switch (outcome.kind) {
    case 'accepted':
      return { again: [], halves: [], letters: [] };
    case 'unavailable':
      return { again: group, halves: [], letters: [] };
    case 'refused': {
      if (group.length === 1)
        return { again: [], halves: [], letters: group.map((record) => letterOf(record, outcome)) };
      const middle = Math.ceil(group.length / 2);
      return { again: [], halves: [group.slice(0, middle), group.slice(middle)], letters: [] };
    }
    case 'partly': {
      const at = new Set(outcome.again);
      const letters = outcome.refused.flatMap(({ at: index, reason }) => {
        const record = group[index];
        return record === undefined ? [] : [{ record, reason }];
      });
      return { again: group.filter((_, index) => at.has(index)), halves: [], letters };
    }
  }
};

const letterOf = (
  record: SinkRecord,
  { reason, ...outcome }: Exclude<SendOutcome, { kind: 'accepted' }>,
): DeadLetter => ({
  record,
  reason,
  ...('detail' in outcome ? { detail: outcome.detail } : {}),
});

/** Splits records into batches; a larger record becomes a batch of its own. */
const batchesOf = (records: readonly SinkRecord[], most: SinkSettings['batch']): readonly (readonly SinkRecord[])[] => {
  const parts: SinkRecord[][] = [];
  let part: SinkRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const size = sizeOf(record);
    if (part.length > 0 && (part.length === most.records || bytes + size > most.bytes)) {
      parts.push(part);
      [part, bytes] = [[], 0];
    }
    part.push(record);
    bytes += size;
  }
  return part.length > 0 ? [...parts, part] : parts;
};
