import {
  type AssetAnswer,
  type BoundAsset,
  type ContextModel,
  type Facts,
  settle,
  type Settled,
  type SettleTask,
  type SettlingInstance,
  TriedMemory,
} from '../src/index';
import { alone, noCollections } from './fixtures';

/** A rule that reads and writes these keys; an input that ends with `?` has a default in the rule. */
export const rule = (
  slug: string,
  inputs: readonly string[],
  outputs: readonly string[],
  version = 'v1',
): BoundAsset => ({
  type: 'rule',
  slug,
  effectiveVersion: version,
  inputs: inputs.map((key) => ({ key: key.replace(/\?$/, ''), hasDefault: key.endsWith('?') })),
  outputs,
});

export const success = (outputs: Facts): AssetAnswer => ({ status: 'success', outputs });

/** Answer of each rule, by slug. */
export type Answers = Readonly<
  Record<string, (inputs: Facts, settling: SettlingInstance) => AssetAnswer | Promise<AssetAnswer>>
>;

export interface SettledInTest extends Settled {
  /** Runs, round by round: `slug(inputs as JSON)`. */
  readonly calls: readonly string[];
  /** Errors that were thrown, by asset: `slug: message`. */
  readonly faults: readonly string[];
  /** Number of pauses. */
  readonly pauses: number;
}

/** Settles with an executor of plain functions, and with texts as their own hashes. */
export const settleWith = async (
  model: ContextModel,
  assets: readonly BoundAsset[],
  facts: Facts,
  answers: Answers,
  rest: Partial<SettleTask> & {
    readonly isOver?: () => boolean;
    readonly tried?: TriedMemory;
    /** Whether the executor answers without a promise where a function does. */
    readonly atOnce?: boolean;
  } = {},
): Promise<SettledInTest> => {
  const calls: string[] = [];
  const faults: string[] = [];
  let pauses = 0;
  const { isOver = () => false, tried = new TriedMemory(Infinity), atOnce = false, ...task } = rest;
  const settled = await settle(
    { model, assets, facts, executions: {}, sources: alone, ...task },
    {
      execute: (asset, inputs, _runs, settling) => {
        calls.push(`${asset.slug}(${JSON.stringify(inputs)})`);
        const answer = answers[asset.slug];
        if (answer === undefined) return Promise.reject(new Error('no such rule'));
        const given = answer(inputs, settling);
        return atOnce ? given : Promise.resolve(given);
      },
      hash: (text) => text,
      isOver,
      isFull: () => false,
      tried,
      pause: () => Promise.resolve(void (pauses += 1)),
      onFault: ({ slug }, error) => void faults.push(`${slug}: ${error instanceof Error ? error.message : ''}`),
      collections: noCollections,
    },
  );
  return { ...settled, calls, faults, pauses };
};
