import { createContextModels, type RuleLibrary, settleOperations } from '@decision/execution';
import { type LocalSettler } from './settler';

/** Settles instances in this process, one operation after the other in slices, so that other requests go on meanwhile. */
export const createLocalSettler = (library: Pick<RuleLibrary, 'get'>): LocalSettler => {
  const models = createContextModels();
  return (request, { workspaceId, deadline }) =>
    settleOperations(request, { workspaceId, deadline, library, models, onRun: () => undefined });
};
