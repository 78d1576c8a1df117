import { type RequestEnvelope } from '@decision/broker';
import { type SettledInstance, type SettleRequest } from '@decision/contracts';
import {
  createContextModels,
  createRunTeller,
  type DecisionLogWriter,
  type EvaluationThreads,
  type RequestFault,
  type RuleLibrary,
  type SettleFault,
  settleOperations,
} from '@decision/execution';
import pLimit from 'p-limit';

/** Settles the instances of a request in this process. */
export type LocalSettler = (request: SettleRequest, envelope: RequestEnvelope) => Promise<readonly SettledInstance[]>;

interface LocalSettlerTools {
  readonly library: Pick<RuleLibrary, 'get'>;
  /** Threads for long evaluations; undefined: they run in this thread. */
  readonly threads?: Pick<EvaluationThreads, 'solve'> | undefined;
  /** Is told every rule that runs here, as workers tell theirs. */
  readonly decisions: DecisionLogWriter;
  readonly newId: () => string;
  /** Is told why rules had no answer, each fault once in an operation. */
  readonly onFault: (fault: RequestFault) => void;
}

/** Operations that are settled here are large: this many at a time bound the memory; others wait until their deadline. */
const AT_ONCE = 2;

/** How decisions of this process name who asked. */
const REQUESTER = 'contexts-api';

/** Settles instances in this process in slices, so that other requests go on meanwhile. */
export const createLocalSettler = (tools: LocalSettlerTools): LocalSettler => {
  const { library, threads, decisions, newId, onFault } = tools;
  const models = createContextModels();
  const turn = pLimit(AT_ONCE);
  return (request, envelope) =>
    turn(async () => {
      const told = { ...envelope, correlationId: newId(), requester: REQUESTER, replyPartition: 0 };
      const { workspaceId, deadline, requestId } = envelope;
      const runs = createRunTeller(decisions, told);
      const { onRun, isFull } = runs;
      const tellFault = (fault: SettleFault): void => onFault({ ...fault, requestId });
      const surroundings = { workspaceId, deadline, library, threads, models, onRun, isFull, onFault: tellFault };
      const settled = await settleOperations(request, surroundings);
      runs.tell();
      return JSON.parse(JSON.stringify(settled)) as SettledInstance[]; // as a message would have carried it
    });
};
