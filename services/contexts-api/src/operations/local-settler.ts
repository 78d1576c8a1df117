import { type RequestEnvelope } from '@decision/broker';
import { type SettledInstance, type SettleRequest } from '@decision/contracts';
import {
  createContextModels,
  createRunTeller,
  type DecisionLogWriter,
  type RuleLibrary,
  settleOperations,
} from '@decision/execution';
import pLimit from 'p-limit';

/** Settles the instances of a request in this process. */
export type LocalSettler = (request: SettleRequest, envelope: RequestEnvelope) => Promise<readonly SettledInstance[]>;

export interface LocalSettlerTools {
  readonly library: Pick<RuleLibrary, 'get'>;
  /** Is told every rule that runs here, as workers tell theirs. */
  readonly decisions: DecisionLogWriter;
  readonly newId: () => string;
}

/** What is settled here is large: so many operations at a time bound the memory; others wait, and end with their deadline. */
const AT_ONCE = 2;

/** How decisions of this process name who asked. */
const REQUESTER = 'contexts-api';

/** Settles instances in this process in slices, so that other requests go on meanwhile. */
export const createLocalSettler = ({ library, decisions, newId }: LocalSettlerTools): LocalSettler => {
  const models = createContextModels();
  const turn = pLimit(AT_ONCE);
  return (request, envelope) =>
    turn(async () => {
      const told = { ...envelope, correlationId: newId(), requester: REQUESTER, replyPartition: 0 };
      const { workspaceId, deadline } = envelope;
      const runs = createRunTeller(decisions, told);
      const { onRun } = runs;
      const settled = await settleOperations(request, { workspaceId, deadline, library, models, onRun });
      runs.tell();
      return JSON.parse(JSON.stringify(settled)) as SettledInstance[]; // as a message would have carried it
    });
};
