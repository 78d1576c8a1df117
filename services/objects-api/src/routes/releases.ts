import { accessOf } from '@decision/infrastructure';
import {
  approveRelease as approveOperation,
  cancelRelease as cancelOperation,
  createRelease as createOperation,
  listEnvironments as listEnvironmentsOperation,
  listReleases as listOperation,
  promoteRelease as promoteOperation,
  reconcileReleases as reconcileOperation,
  rollBackRelease as rollBackOperation,
  saveEnvironment as saveEnvironmentOperation,
} from '@decision/contracts';
import { listReleases } from '@decision/persistence';
import { bindOperation, type BoundOperation, readPageQuery } from '@decision/service-kit';
import { approveRelease, cancelRelease, promoteRelease, rollBackRelease } from '../releases/change-release';
import { createRelease } from '../releases/create-release';
import { listEnvironments, saveEnvironment } from '../releases/environments';
import { reconcileReleases } from '../releases/reconcile-releases';
import { toRelease } from '../releases/release-answers';
import { type ReleaseContext } from '../releases/release-context';

/** The calls under /api/v1/admin/environments and /api/v1/admin/releases. */
export const releaseRoutes = (context: ReleaseContext): readonly BoundOperation[] => [
  bindOperation(listEnvironmentsOperation, async ({ identity }) => ({
    data: await listEnvironments(context, accessOf(identity)),
    next_cursor: null,
  })),
  bindOperation(saveEnvironmentOperation, ({ identity, body }) => saveEnvironment(context, accessOf(identity), body)),
  bindOperation(listOperation, async ({ identity, query }) => {
    const { limit, cursor, ...filters } = query;
    const { releases, nextCursor } = await context.database.inWorkspace(accessOf(identity), (transaction) =>
      listReleases(transaction, filters, readPageQuery({ limit, cursor })),
    );
    return { data: releases.map(toRelease), next_cursor: nextCursor };
  }),
  bindOperation(createOperation, async ({ identity, body }) =>
    toRelease(await createRelease(context, accessOf(identity), body)),
  ),
  bindOperation(approveOperation, async ({ identity, params }) =>
    toRelease(await approveRelease(context, accessOf(identity), idOf(params), identity)),
  ),
  bindOperation(promoteOperation, async ({ identity, params, query }) =>
    toRelease(await promoteRelease(context, accessOf(identity), idOf(params), query.environment)),
  ),
  bindOperation(cancelOperation, async ({ identity, params, query }) =>
    toRelease(await cancelRelease(context, accessOf(identity), idOf(params), query.withdraw === 'true')),
  ),
  bindOperation(rollBackOperation, async ({ identity, params }) =>
    toRelease(await rollBackRelease(context, accessOf(identity), idOf(params))),
  ),
  bindOperation(reconcileOperation, ({ identity }) => reconcileReleases(context, accessOf(identity))),
];

const idOf = (params: Readonly<Record<string, string>>): string => params['id'] ?? '';
