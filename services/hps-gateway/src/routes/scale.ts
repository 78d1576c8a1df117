import { getScale, scaleWorkers } from '@decision/contracts';
import { type WorkspaceAccess } from '@decision/persistence';
import { bindOperation, type BoundOperation, type Identity } from '@decision/service-kit';
import { type Scale } from '../scale';

/** The calls of /api/v1/scale. */
export const scaleRoutes = (scale: Scale): readonly BoundOperation[] => [
  bindOperation(getScale, ({ identity }) => scale.read(accessOf(identity))),
  bindOperation(scaleWorkers, ({ identity, body }) => scale.raise(accessOf(identity), body)),
];

const accessOf = ({ workspaceId, userGroups, keyId, origin }: Identity): WorkspaceAccess => ({
  workspaceId,
  userGroups,
  actor: keyId,
  origin,
});
