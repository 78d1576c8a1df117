import {
  type DecisionLogEntry,
  getDecision,
  queryDecisions,
  ServiceError,
  summariseDecisions,
} from '@decision/contracts';
import { type DecisionAnswers } from '@decision/decision-logs';
import { accessOf } from '@decision/infrastructure';
import { bindOperation, type BoundOperation } from '@decision/service-kit';
import { type DecisionQuery, readDecisionQuery } from '../queries/read-query';
import { type DecisionStore } from '../queries/decision-store';
import { entriesOf, readEntries } from '../queries/read-entries';
import { readSummaryQuery, summarise } from '../queries/summary';

const MIB = 1_048_576;
/** Maximum characters of requests and responses of one page; it has at least one decision. */
const MOST_OF_PAGE = 16 * MIB;
/** The same for a single requested decision. */
const MOST_OF_ONE = 64 * MIB;

interface DecisionRoutesOptions {
  readonly store: DecisionStore;
  /** Days of the log table. */
  readonly retentionDays: number;
  /** Epoch ms; undefined if unknown. */
  readonly collectedTo: () => number | undefined;
}

/** The calls under /api/v1/decisions. */
export const decisionRoutes = ({
  store,
  retentionDays,
  collectedTo,
}: DecisionRoutesOptions): readonly BoundOperation[] => [
  bindOperation(queryDecisions, async ({ identity, query }) => {
    const asked = readDecisionQuery(query, identity.workspaceId);
    const access = accessOf(identity);
    return store.ask(access, async (answers, note) => {
      const answer = asked.isCount
        ? { count: await answers.count(asked.filters) }
        : await readPage(answers, asked, access.userGroups !== undefined);
      const found = 'data' in answer ? { decisions: answer.data.length } : { count: answer.count };
      const filters = Object.fromEntries(Object.entries(query).filter(([name]) => name !== 'cursor'));
      await note({
        kind: 'decision',
        action: 'read',
        id: 'query',
        name: 'query',
        after: { ...filters, found },
      });
      return { ...answer, ...freshness(store) };
    });
  }),
  bindOperation(summariseDecisions, async ({ identity, query }) => {
    const now = Date.now();
    const asked = readSummaryQuery(query, now);
    const access = accessOf(identity);
    return store.ask(access, async (answers, note) => {
      const seesAll = access.userGroups === undefined;
      const summary = await summarise(answers, asked, { seesAll, now, collectedTo: collectedTo(), retentionDays });
      const after = { ...query, found: { count: summary.total.count } };
      await note({ kind: 'decision', action: 'read', id: 'summary', name: 'summary', after });
      return { ...summary, ...freshness(store) };
    });
  }),
  bindOperation(getDecision, async ({ identity, params }) => {
    const id = params['id'] ?? '';
    const access = accessOf(identity);
    return store.ask(access, async (answers, note) => {
      const found = await answers.findOne(id);
      const shown = found === undefined ? [] : [found];
      const items = await answers.read(shown, {}, { withTraces: true, characters: MOST_OF_ONE });
      const [entry] = entriesOf({ shown, items }, access.userGroups !== undefined);
      if (entry === undefined)
        throw new ServiceError(
          'decision_not_found',
          `No decision "${id.slice(0, 100)}" is kept and visible to this key.`,
        );
      await note({ kind: 'decision', action: 'read', id: entry.id, name: entry.name });
      return entry;
    });
  }),
];

const freshness = (store: DecisionStore): { readonly fresh_until?: string | null } => {
  const freshUntil = store.freshUntil();
  return freshUntil === undefined ? {} : { fresh_until: freshUntil };
};

interface Page {
  readonly data: DecisionLogEntry[];
  readonly cursor?: string;
}

const readPage = async (answers: DecisionAnswers, asked: DecisionQuery, hidesKeys: boolean): Promise<Page> => {
  const { filters, sort, isDescending, after, limit, withTraces } = asked;
  const order = { sort, isDescending, after, limit };
  const reading = { withTraces, pageCharacters: MOST_OF_PAGE, characters: MOST_OF_PAGE };
  const { entries, last, isLast } = await readEntries(answers, hidesKeys, filters, order, reading);
  return { data: [...entries], ...(isLast || last === undefined ? {} : { cursor: asked.cursorAt(last) }) };
};
