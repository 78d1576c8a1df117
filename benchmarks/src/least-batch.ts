import { hash, randomBytes, randomUUID } from 'node:crypto';
import { type ExecutionRecord, packExecutions } from '@decision/contracts';
import { type CompiledRule, compileRule, evaluateRule } from '@decision/engine';
import { type Pipe } from './baselines/start-pipe';
import { BenchmarkError } from './benchmark-error';
import { range } from './beside-sql';
import { discountRule, type MadeContext, tierRule } from './context-workload';
import { CHUNK, type DecidedInstance, type RawInstances } from './raw-instances';

/** An offer before rules have run. */
interface Offer {
  readonly id: string;
  readonly facts: { readonly total: number };
}

/** Results of the rules for one offer. */
interface Decision {
  /** The hash of a rule's inputs, as executions keep it. */
  readonly inputHash: string;
  readonly discount: unknown;
  readonly tier: unknown;
}

type Decide = (offer: Offer) => Decision;

const EXAMPLE_HASH = randomBytes(32).toString('base64url');
const VERSION = randomUUID();

/** Answers what is there already. */
export const recallResults: Decide = ({ facts }) => ({
  inputHash: EXAMPLE_HASH,
  discount: facts.total / 10,
  tier: 'gold',
});

/** Runs both rules, and hashes the inputs of each as executions keep them. */
export const evaluateRules = (slug: string): Decide => {
  const discountOf = compileRule(discountRule(slug));
  const tierOf = compileRule(tierRule(slug));
  const now = Date.now();
  const run = (rule: CompiledRule, inputs: Readonly<Record<string, unknown>>, output: string) => {
    const outcome = evaluateRule(rule, inputs, { now });
    if (!outcome.ok) throw new BenchmarkError(outcome.error.message);
    return { inputHash: hash('sha256', JSON.stringify(inputs), 'base64url'), value: outcome.output[output] };
  };
  return ({ facts: { total } }) => {
    const { value: discount } = run(discountOf, { total }, 'discount');
    const { value: tier, inputHash } = run(tierOf, { discount }, 'tier');
    return { inputHash, discount, tier };
  };
};

/** An offer with the results of two rules, as the database stores them. */
const decided = (slug: string, offer: Offer, decide: Decide): DecidedInstance => {
  const { inputHash, discount, tier } = decide(offer);
  const decidedBy = { effective_version: VERSION, input_hash: inputHash };
  const records = ['discount', 'tier'].map((fact): [string, ExecutionRecord] => {
    const run = { status: 'success' as const, run_count: 1, timestamp: new Date().toISOString() };
    const wrote = { written_to_context: [fact], owned_facts: [fact], last_success: decidedBy };
    return [`rule:${slug}-${fact}`, { type: 'rule', slug: `${slug}-${fact}`, ...decidedBy, ...run, ...wrote }];
  });
  return {
    id: offer.id,
    facts: { total: offer.facts.total, discount, tier },
    executions: packExecutions(Object.fromEntries(records)),
  };
};

/**
 * The least that a batch with rules consists of: the facts of each chunk are stored, go to another process and back through HTTP and Kafka, and
 * are stored again with what rules have decided. Three chunks at once. Nothing is parsed, checked, logged or answered.
 */
export const writeTwice = async (
  { raw, pipe, decide }: { readonly raw: RawInstances; readonly pipe: Pipe; readonly decide: Decide },
  context: MadeContext,
  offers: readonly Offer[],
): Promise<void> => {
  const chunks = range(Math.ceil(offers.length / CHUNK)).map((n) => offers.slice(n * CHUNK, (n + 1) * CHUNK));
  const takeChunks = async (): Promise<void> => {
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      await raw.upsert(context.id, chunk);
      await (await fetch(pipe.url, { method: 'POST', body: JSON.stringify(chunk) })).text();
      await raw.writeBack(
        context.id,
        chunk.map((offer) => decided(context.slug, offer, decide)),
      );
    }
  };
  await Promise.all(range(3).map(takeChunks));
};
