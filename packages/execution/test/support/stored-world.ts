import { type Cache } from '@decision/cache';
import { type FlowDefinition, type FlowGraph, type FlowUse, type RuleTable, ServiceError } from '@decision/contracts';
import { type OnCompiled } from '../../src/compilation';
import { createFlowLibrary, type FlowLibrary } from '../../src/flows/flow-library';
import { createRuleLibrary, type RuleLibrary } from '../../src/rule-library';
import { createValueDirectory } from '../../src/value-directory';

/** A rule that answers a formula over the number `n`. */
export const formulaTable = (output: string, formula: string): RuleTable => ({
  requestSchema: [{ key: 'n', type: 'number' }],
  responseSchema: [{ key: output, type: 'function' }],
  conditions: [{ response: { [output]: { value: formula } } }],
});

/** The same with rows that never match, to make it large. */
export const largeTable = (output: string, formula: string, rows: number): RuleTable => ({
  ...formulaTable(output, formula),
  conditions: [
    ...Array.from({ length: rows }, (_, row) => ({ request: { n: { op: 'equals', args: [-1 - row] } }, response: {} })),
    ...formulaTable(output, formula).conditions,
  ],
});

export const use = (kind: 'rule' | 'flow', slug: string, selector: string, versionId: string): FlowUse => ({
  ...{ kind, slug, selector, version_id: versionId },
  asset_id: `id-of-${slug}`,
});

export const definition = (graph: FlowGraph & Partial<Omit<FlowDefinition, keyof FlowGraph>>): FlowDefinition =>
  ({
    ...{ requestSchema: [], responseSchema: [], settings: {}, uses: [], reaches_out: false },
    ...graph,
  }) as FlowDefinition; // nodes have fields of their own

/** A flow whose origin is a rule, and which answers one of its outputs. */
export const passing = (origin: FlowUse, output: string, changes: Partial<FlowDefinition> = {}): FlowDefinition =>
  definition({
    nodes: [
      { ref: 'in', type: 'origin', rule: origin.slug, version: origin.selector },
      { ref: 'out', type: 'result' },
    ],
    connections: [{ from: 'in', output, to: 'out' }],
    uses: [origin],
    ...changes,
  });

/** Published assets in memory. */
export class StoredWorld {
  readonly rules = new Map<string, RuleTable>();
  readonly flows = new Map<string, FlowDefinition>();
  /** Versions by `<slug>/<selector>`. */
  readonly pointers = new Map<string, string>();
  /** The reads, in order. */
  readonly reads: string[] = [];

  libraryOf(
    cache: Cache,
    options: { readonly maxBytes?: number; readonly maxCells?: number; readonly onCompiled?: OnCompiled } = {},
  ): FlowLibrary & { readonly rules: RuleLibrary } {
    const { maxBytes = 100_000_000, maxCells, onCompiled } = options;
    const noValues = {
      findRevision: () => Promise.resolve(0),
      load: () => Promise.resolve({ revision: 0, values: [] }),
    };
    const rules = createRuleLibrary(
      cache,
      {
        loadTable: (_workspace, versionId) => this.read(`rule ${versionId}`, this.rules.get(versionId)),
        values: createValueDirectory(cache, noValues, { onStale: () => undefined }),
      },
      { maxBytes: 100_000_000, maxCells, onCompiled },
    );
    const flows = createFlowLibrary(
      cache,
      {
        ...{ rules, onCompiled },
        loadDefinition: (_workspace, versionId) => this.read(`flow ${versionId}`, this.flows.get(versionId)),
        describeRule: (_workspace, versionId) => this.read(`fields ${versionId}`, this.rules.get(versionId)),
        directory: {
          find: (_workspace, { slug, selector }) => Promise.resolve(this.pointers.get(`${slug}/${selector}`)),
          resolve: ({ userGroups = [] }, { slug, selector }) => {
            const version_id = this.pointers.get(`${slug}/${selector}`);
            if (version_id !== undefined && userGroups.includes(`sees ${slug}`))
              return Promise.resolve({ version_id, asset_id: slug });
            return Promise.reject(new ServiceError('rule_not_found', 'It is not visible.'));
          },
        },
      },
      { maxBytes },
    );
    return { ...flows, rules };
  }

  private read<T>(what: string, found: T): Promise<T> {
    this.reads.push(what);
    return Promise.resolve(found);
  }
}
