import { accessOf } from '@decision/infrastructure';
import {
  batchOperation,
  cascadeOperation,
  contextLimits,
  deleteInstanceOperation,
  getHistoryOperation,
  getInstanceOperation,
  getPendingOperation,
  listInstancesOperation,
  solveInstanceFlowOperation,
  solveInstanceOperation,
  submitOperation,
} from '@decision/contracts';
import {
  cascadeInstance,
  deleteInstance,
  getHistory,
  getInstance,
  getPending,
  type InstancesContext,
  listInstances,
  type NamedInstance,
  type BatchWork,
  type OpenContext,
  solveFlowOfInstance,
  solveRuleOfInstance,
  submitFacts,
  type RequestOrigin,
  wholeWorkspace,
  withContext,
} from '@decision/operations';
import {
  Answer,
  bindOperation,
  type BoundOperation,
  formOfAnswer,
  type Identity,
  LinesAnswer,
  readCount,
  readPageQuery,
  type RequestContext,
} from '@decision/service-kit';
import { answerLines, answerWhole } from '../batches/answer-batch';
import { readBatchInclude, submitBatch } from '../batches/submit-batch';
import { submitLines } from '../batches/submit-lines';

interface Asked {
  readonly identity: Identity;
  readonly params: Readonly<Record<string, string>>;
  readonly context: RequestContext;
}

/** The calls under /api/v1/contexts. */
export const instanceRoutes = (context: InstancesContext): readonly BoundOperation[] => {
  const open = ({ identity, params }: Asked) => context.directory.open(accessOf(identity), params['slug'] ?? '');
  const nameIn = (asked: Asked, opened: OpenContext): NamedInstance => ({
    context: opened,
    instanceId: asked.params['instance'] ?? '',
    origin: originOf(asked.identity, asked.context, context.timeoutMs),
  });
  const name = async (asked: Asked): Promise<NamedInstance> => nameIn(asked, await open(asked));
  /** For calls that admit the instance: admission checks whether the context is still the one that this process knows. */
  const admitting = <T>(asked: Asked, work: (named: NamedInstance) => Promise<T>): Promise<T> =>
    withContext(context.directory, accessOf(asked.identity), asked.params['slug'] ?? '', (opened) =>
      work(nameIn(asked, opened)),
    );
  const batchOf = async (asked: Asked): Promise<BatchWork> => {
    const origin = originOf(asked.identity, asked.context, context.timeoutMs);
    return { context, definition: await open(asked), origin };
  };
  return [
    bindOperation(
      batchOperation,
      async (asked) => {
        const fields = readBatchInclude(asked.query.include);
        return submitBatch(await batchOf(asked), asked.body, fields);
      },
      async (asked) => {
        const fields = readBatchInclude(asked.query.include);
        const work = await batchOf(asked);
        const { lineMaxBytes, chunkBytes } = context;
        const batch = submitLines(work, asked.readPieces(work.origin.deadline), { fields, lineMaxBytes, chunkBytes });
        const isStreamed = formOfAnswer(asked.header('accept'), 'list') === 'lines';
        return isStreamed ? new LinesAnswer(answerLines(work, batch)) : answerWhole(work, batch);
      },
    ),
    bindOperation(listInstancesOperation, async (asked) => {
      const { prefix, status } = asked.query;
      return listInstances(context, await open(asked), { prefix, status }, readPageQuery(asked.query));
    }),
    bindOperation(submitOperation, (asked) => admitting(asked, (named) => submitFacts(context, named, asked.body))),
    bindOperation(getInstanceOperation, async (asked) =>
      getInstance(context, await name(asked), asked.query.include_relations),
    ),
    bindOperation(deleteInstanceOperation, async (asked) => deleteInstance(context, await name(asked))),
    bindOperation(getHistoryOperation, async (asked) => {
      const { field, limit } = asked.query;
      const most = limit === undefined ? undefined : readCount('limit', limit, contextLimits.historyMost);
      return getHistory(context, await name(asked), { field, limit: most });
    }),
    bindOperation(getPendingOperation, async (asked) => getPending(context, await name(asked))),
    bindOperation(cascadeOperation, (asked) => admitting(asked, (named) => cascadeInstance(context, named))),
    bindOperation(solveInstanceOperation, async (asked) => {
      const rule = asked.params['rule'] ?? '';
      const { status, answer } = await admitting(asked, (named) =>
        solveRuleOfInstance(context, named, rule, asked.body),
      );
      return new Answer(answer, { status });
    }),
    bindOperation(solveInstanceFlowOperation, async (asked) => {
      const flow = asked.params['flow'] ?? '';
      const { status, answer } = await admitting(asked, (named) =>
        solveFlowOfInstance(context, named, flow, asked.body),
      );
      return new Answer(answer, { status });
    }),
  ];
};

/** The origin of the work of a request. */
const originOf = (
  identity: Identity,
  { requestId, traceparent, receivedAt }: Pick<RequestContext, 'requestId' | 'traceparent' | 'receivedAt'>,
  timeoutMs: number,
): RequestOrigin => ({
  access: wholeWorkspace(accessOf(identity)),
  ...{ keyId: identity.actor, requestId, traceparent, now: receivedAt, deadline: receivedAt + timeoutMs },
});
