import { type BoundAsset, assetKey } from '../assets/bound-asset';
import { type ContextModel } from '../definitions/context-model';
import { type Collections, mismatchOfValue } from '../instances/check-record';
import { faultOfFactName, quoted } from '../facts/fact-name';
import { type Facts } from '../facts/facts';
import { faultOfStoring } from '../facts/storable';
import { type Executions } from './settle-task';

type OutputsWrite =
  | {
      readonly ok: true;
      readonly facts: Facts;
      readonly written: readonly string[];
      /** Facts that lost their value (C66). */
      readonly cleared: readonly string[];
    }
  /** A sentence about the answer, which is written not at all (C65). */
  | { readonly ok: false; readonly error: string };

interface OutputsToWrite {
  readonly model: ContextModel;
  readonly asset: BoundAsset;
  readonly outputs: Facts;
  readonly collections: Collections;
  readonly facts: Facts;
  /** As they were before this run. */
  readonly executions: Executions;
}

/** Writes what an asset answered into the facts (C64 to C66). Nothing that is given is changed. */
export const writeOutputs = (task: OutputsToWrite): OutputsWrite => {
  const { model, outputs, facts } = task;
  const kept: [string, unknown][] = [];
  for (const [fact, value] of Object.entries(outputs)) {
    const error = faultOfOutput(task, fact, value);
    if (error !== undefined) return { ok: false, error };
    if (model.facts.has(fact) || model.definition.onSchemaMismatch === 'store') kept.push([fact, value]);
  }
  const written = kept.map(([fact]) => fact);
  const cleared = factsLeftOut(task, written);
  const gone = new Set(cleared);
  const remaining = Object.entries(facts).filter(([fact]) => !gone.has(fact));
  return { ok: true, facts: Object.fromEntries([...remaining, ...kept]), written, cleared };
};

const faultOfOutput = ({ model, collections }: OutputsToWrite, fact: string, value: unknown): string | undefined => {
  const answers = `It answered ${quoted(fact)}`;
  if (fact === model.identity.key) return `${answers}, the identity fact, which bound rules and flows cannot write.`;
  if (model.derived.has(fact)) return `${answers}, which is derived.`;
  const declared = model.facts.get(fact);
  if (declared === undefined && model.definition.onSchemaMismatch === 'reject')
    return `${answers}, which is no fact of the context.`;
  if (declared === undefined && model.definition.onSchemaMismatch === 'ignore') return undefined;
  const unstorable = faultOfFactName(fact) ?? faultOfStoring(value);
  if (unstorable !== undefined) return `${answers}, which ${unstorable}.`;
  return declared === undefined ? undefined : mismatchOfValue(declared, value, collections)?.error;
};

/** Facts that this asset owns, that have a value or null, and that it did not answer again (C66). */
const factsLeftOut = ({ asset, facts, executions }: OutputsToWrite, written: readonly string[]): readonly string[] => {
  const kept = new Set(written);
  const owned = executions[assetKey(asset)]?.owned_facts ?? [];
  return owned.filter((fact) => !kept.has(fact) && Object.hasOwn(facts, fact));
};
