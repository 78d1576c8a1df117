import { hash } from 'node:crypto';
import { type AssetKind, type SolutionRequestEnvelope } from '@decision/contracts';
import { type OperationRun, versionOf } from './evaluate-asset';
import { type DecisionLogWriter, putOnRecord, type Recorded } from '../decisions/decision-log';
import { charactersOf, type SolvedInput, solvedInput } from '../decisions/solved-input';

/** Maximum characters of requests and responses in a record, unless it has only one decision: far less than the largest message. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Approximate maximum characters of runs that are held until they are logged; beyond it no rule runs again in its operation. */
export const MOST_HELD_CHARACTERS = 64 * 1024 * 1024;
const CHARACTERS_OF_ITEM = 256;

/** Decisions of one rule or flow in one version, in one record. */
interface RunRecord {
  readonly correlationId: string;
  readonly idOf: (index: number) => string;
  readonly asset: AssetKind;
  readonly assetId: string | undefined;
  readonly slug: string;
  readonly versionId: string;
  readonly items: SolvedInput[];
  characters: number;
}

/** Hexadecimal digits of the id of a run that tell its record, and those that tell its decision within the record. */
const RECORD_DIGITS = 24;
const INDEX_DIGITS = 8;

/** Derived from the id of the record, so it is the same when a message is handled again. */
const idsOfRuns = (record: string): ((index: number) => string) => {
  const prefix = hash('sha256', record).slice(0, RECORD_DIGITS);
  return (index) => `${prefix}${index.toString(16).padStart(INDEX_DIGITS, '0')}`;
};

/** Collects the runs of rules and flows within the operations of one message. */
interface RunLog {
  /** Answers the id of the run among decisions, 32 hexadecimal digits. */
  readonly onRun: (run: OperationRun) => string;
  /** Whether the collected runs have used up their memory. */
  readonly isFull: () => boolean;
  /** Writes the collected runs; a promise if they may not be answered yet. See `putOnRecord`. */
  write(): Recorded;
}

/**
 * Writes the rules and flows that run within the operations of one message as decisions, those of one asset together. Records are numbered
 * in the order in which assets first ran, so that a message that is handled again writes the same ids. `flow` is the slug of the flow that
 * requested the operations.
 */
export const createRunLog = (
  decisions: DecisionLogWriter,
  envelope: SolutionRequestEnvelope,
  flow?: string,
): RunLog => {
  const records: RunRecord[] = [];
  const open = new Map<string, RunRecord>();
  let held = 0;
  let begun = 0;
  return {
    onRun: ({ asset, instanceId: instance, inputs, outcome, durationUs }) => {
      const { slug } = asset;
      const versionId = versionOf(asset);
      const solved = solvedInput(JSON.stringify(inputs), outcome, durationUs);
      const characters = charactersOf(solved);
      let record = open.get(versionId);
      if (record === undefined || record.characters + characters > MOST_CHARACTERS) {
        const correlationId = `${envelope.correlationId}.${(begun += 1)}`;
        const { type, id: assetId } = asset;
        const idOf = idsOfRuns(`${envelope.requester}:${correlationId}`);
        record = { asset: type, assetId, slug, versionId, correlationId, idOf, items: [], characters: 0 };
        records.push(record);
        open.set(versionId, record);
      }
      const executionId = record.idOf(record.items.length);
      record.items.push({ ...solved, executionId, instance });
      record.characters += characters;
      held += characters + CHARACTERS_OF_ITEM;
      return executionId;
    },
    isFull: () => held > MOST_HELD_CHARACTERS,
    write: () => {
      const { origin: asked } = envelope;
      const waits: Promise<void>[] = [];
      for (const { asset, assetId, slug, versionId, correlationId, items } of records.splice(0)) {
        const origin = asked && { ...asked, assetId, slug, context: asked.slug, flow, firstIndex: 0 };
        const wait = putOnRecord(decisions, { ...envelope, asset, correlationId, versionId, origin }, items);
        if (wait !== undefined) waits.push(wait);
      }
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
    },
  };
};
