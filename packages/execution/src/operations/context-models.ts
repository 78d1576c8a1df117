import { compileContext, type ContextModel } from '@decision/contexts';
import { ServiceError, type SettleRequest } from '@decision/contracts';
import { LRUCache } from 'lru-cache';

/** Compiled contexts, by the state of their definitions. */
export interface ContextModels {
  /** Throws `internal_error` if the context does not compile, which its sender has ruled out. */
  get(workspaceId: string, request: SettleRequest): ContextModel;
}

export const createContextModels = (maxEntries = 1_000): ContextModels => {
  const models = new LRUCache<string, ContextModel>({ max: maxEntries });
  return {
    get: (workspaceId, request) => {
      const key = `${workspaceId} ${request.contextId} ${request.revision}`;
      const model = models.get(key) ?? compile(request);
      models.set(key, model);
      return model;
    },
  };
};

const compile = ({ contextId, contexts, relationships }: SettleRequest): ContextModel => {
  const world = { contexts: new Map(contexts.map((context) => [context.id, context])), relationships };
  const definition = world.contexts.get(contextId);
  const compilation = definition && compileContext(definition, world);
  if (compilation?.ok === true) return compilation.model;
  throw new ServiceError('internal_error', 'The context of the operation cannot be compiled.');
};
