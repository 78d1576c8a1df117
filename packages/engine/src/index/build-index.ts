import { CellKind, cellOfField, type ClauseTable, highOf, kindOf, lowOf } from '../match/clause-table';
import { buildBitmaps } from './bitmap-builder';
import { type ColumnStatistics, describeColumns, keysOfCell, sampleOf } from './column-statistics';
import { type IndexNode, NodeKind, type RowIndex, type ScanNode, segmentOf } from './index-matcher';
import { buildLine } from './line';
import { MAX_SEGMENTS_OF_RANGE, MIN_CLAUSES, type NodePlan, type Planner, planNode } from './plan-node';

/** Maximum depth of nested splits. */
const MAX_DEPTH = 40;
/** The largest part of a split must have less than this share of its clauses. */
const MAX_SHARE = 0.9;
/** Number of columns that may always have bitmaps, and the multiple of a clause's average number of cells that may have them. */
const FEW_COLUMNS = 24;
const MAX_BLANKS = 8;
/** Clauses may be in several leaves, but on average in at most this many more, or in as many as their sets have members if that is more. */
const MAX_COPIES = 4;

/**
 * Builds the index of a table. Each clause is in one leaf, or in a few if it matches several values or touches several segments; the cost grows
 * with the number of cells, and with the logarithm of the number of clauses. Answers do not depend on the choices of the planner. `isPoint`
 * states, by field, whether its values are points. See docs/adr/0009-index-over-clauses.md.
 */
export const buildIndex = (table: ClauseTable, isPoint: readonly boolean[], planner: Planner = planNode): RowIndex => {
  const builder = new IndexBuilder(table, isPoint, planner);
  const root =
    table.count === 0
      ? undefined
      : builder.build(
          Array.from({ length: table.count }, (_, clause) => clause),
          0,
        );
  return { table, root, pool: Uint32Array.from(builder.pool) };
};

type Fields = ReadonlySet<number>;
const NO_FIELDS: Fields = new Set();

/** Clauses of a split: by value or segment, and the rest. */
interface Parts<Key> {
  readonly children: ReadonlyMap<Key, readonly number[]>;
  readonly rest: readonly number[];
}

class IndexBuilder {
  readonly pool: number[] = [];
  private copies = 0;
  private readonly mostCopies: number;

  constructor(
    private readonly table: ClauseTable,
    private readonly isPoint: readonly boolean[],
    private readonly planner: Planner,
  ) {
    this.mostCopies = Math.max(table.count * MAX_COPIES, countMembers(table));
  }

  /** Builds the node of some clauses, ascending and at least one. All of them match the input in the decided fields. */
  build(clauses: readonly number[], depth: number, decided: Fields = NO_FIELDS): IndexNode {
    if (clauses.length < MIN_CLAUSES) return this.scan(clauses);
    const plan = this.planner(clauses.length, this.columnsOf(clauses, decided));
    if (plan.kind !== 'line') return this.follow(plan, clauses, depth, decided);
    const { field, otherwise } = plan;
    const others = this.follow(otherwise, clauses, depth, decided);
    const line = this.isPoint[field] === true ? buildLine(this.table, clauses, field) : undefined;
    return line === undefined ? others : { kind: NodeKind.line, first: others.first, field, others, ...line };
  }

  private follow(
    plan: Exclude<NodePlan, { readonly kind: 'line' }>,
    clauses: readonly number[],
    depth: number,
    decided: Fields,
  ): IndexNode {
    switch (plan.kind) {
      case 'scan':
        return this.scan(clauses);
      case 'bitmap':
        return this.bitmap(clauses, plan.fields);
      case 'keys':
        return this.splitByKeys(clauses, plan.field, depth, decided);
      case 'segments':
        return this.splitBySegments(clauses, plan, depth, decided);
    }
  }

  private scan(clauses: readonly number[]): ScanNode {
    const start = this.keep(clauses);
    return { kind: NodeKind.scan, first: clauses[0] ?? 0, start, end: this.pool.length };
  }

  private bitmap(clauses: readonly number[], fields: readonly number[]): IndexNode {
    const chosen = fields.slice(0, this.mostColumns(clauses));
    const indexed = chosen.map((field) => ({ field, isPoint: this.isPoint[field] ?? false }));
    return buildBitmaps(this.table, clauses, indexed, this.keep(clauses));
  }

  /** Maximum number of columns with bitmaps, which use memory for blanks too: more if clauses have many cells. */
  private mostColumns(clauses: readonly number[]): number {
    const { starts } = this.table;
    const cells = clauses.reduce((sum, clause) => sum + (starts[clause + 1] ?? 0) - (starts[clause] ?? 0), 0);
    return Math.max(FEW_COLUMNS, Math.ceil((cells / clauses.length) * MAX_BLANKS));
  }

  /** Appends clauses to the pool and returns their start. */
  private keep(clauses: readonly number[]): number {
    const start = this.pool.length;
    for (const clause of clauses) this.pool.push(clause);
    return start;
  }

  private splitByKeys(clauses: readonly number[], field: number, depth: number, decided: Fields): IndexNode {
    const { children, rest } = this.divide(clauses, field, (cell) => keysOfCell(this.table, cell));
    // Only the rest counts as a part: a value shared by nearly all clauses is fine, since no split below it uses the field again.
    if (!this.isUseful(clauses.length, rest.length, { children, rest }, depth)) return this.flat(clauses, decided);
    const nodes = new Map<unknown, IndexNode>();
    const below = new Set(decided).add(field);
    for (const [key, members] of children) nodes.set(key, this.build(members, depth + 1, below));
    return {
      kind: NodeKind.keySplit,
      first: clauses[0] ?? 0,
      field,
      isPoint: this.isPoint[field] ?? false,
      children: nodes,
      rest: this.buildRest(rest, depth, decided),
    };
  }

  private splitBySegments(
    clauses: readonly number[],
    { field, cuts }: NodePlan & { readonly kind: 'segments' },
    depth: number,
    decided: Fields,
  ): IndexNode {
    const { children, rest } = this.divide(clauses, field, (cell) => this.segmentsOfCell(cell, cuts));
    const largest = Math.max(rest.length, ...[...children.values()].map(({ length }) => length));
    if (!this.isUseful(clauses.length, largest, { children, rest }, depth)) return this.flat(clauses, decided);
    const nodes = Array.from({ length: cuts.length + 1 }, (_, segment) => {
      const members = children.get(segment);
      return members === undefined ? undefined : this.build(members, depth + 1, decided);
    });
    return {
      kind: NodeKind.segmentSplit,
      first: clauses[0] ?? 0,
      field,
      cuts,
      children: nodes,
      rest: this.buildRest(rest, depth, decided),
    };
  }

  private buildRest(rest: readonly number[], depth: number, decided: Fields): IndexNode | undefined {
    return rest.length === 0 ? undefined : this.build(rest, depth + 1, decided);
  }

  private flat(clauses: readonly number[], decided: Fields): IndexNode {
    return this.bitmap(clauses, this.columnsOf(clauses, decided).map(({ field }) => field)); // prettier-ignore
  }

  /** Statistics of the fields that are not decided. */
  private columnsOf(clauses: readonly number[], decided: Fields): readonly ColumnStatistics[] {
    const columns = describeColumns(this.table, sampleOf(clauses));
    return decided.size === 0 ? columns : columns.filter(({ field }) => !decided.has(field));
  }

  /** Whether a split separates clauses without multiplying them, given the size of its largest part; counts the copies it makes. */
  private isUseful(count: number, largest: number, { children, rest }: Parts<unknown>, depth: number): boolean {
    let total = rest.length;
    for (const { length } of children.values()) total += length;
    const copies = this.copies + total - count;
    if (depth >= MAX_DEPTH || largest > count * MAX_SHARE || copies > this.mostCopies) return false;
    this.copies = copies;
    return true;
  }

  /** Assigns each clause to the keys of its cell of the field; without such a cell, or without keys, to the rest. */
  private divide<Key>(
    clauses: readonly number[],
    field: number,
    keysOf: (cell: number) => readonly Key[] | undefined,
  ): Parts<Key> {
    const children = new Map<Key, number[]>();
    const rest: number[] = [];
    for (const clause of clauses) {
      const cell = cellOfField(this.table, clause, field);
      const keys = cell === undefined ? undefined : keysOf(cell);
      if (keys === undefined) rest.push(clause);
      else for (const key of keys) append(children, key, clause);
    }
    return { children, rest };
  }

  /** The segments that a cell touches, if they are few. */
  private segmentsOfCell(cell: number, cuts: Float64Array): readonly number[] | undefined {
    if (kindOf(this.table, cell) !== CellKind.within)
      return keysOfCell(this.table, cell)?.map((point) => segmentOf(cuts, Number(point)));
    const from = segmentOf(cuts, lowOf(this.table, cell));
    const count = segmentOf(cuts, highOf(this.table, cell)) - from + 1;
    return count <= MAX_SEGMENTS_OF_RANGE ? Array.from({ length: count }, (_, index) => from + index) : undefined;
  }
}

/** Number of members of all sets that splits expand. */
const countMembers = (table: ClauseTable): number => {
  let members = 0;
  for (let cell = 0; cell < table.codes.length; cell += 1)
    if (kindOf(table, cell) === CellKind.among) members += keysOfCell(table, cell)?.length ?? 0;
  return members;
};

const append = <Key>(children: Map<Key, number[]>, key: Key, clause: number): void => {
  const members = children.get(key);
  if (members === undefined) children.set(key, [clause]);
  else if (members.at(-1) !== clause) members.push(clause);
};
