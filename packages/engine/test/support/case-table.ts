import { type FieldType, type RuleField, type RuleGroup, type RuleRow, type RuleTable } from '@decision/contracts';
import { type Audience, type StoredValue, type ValueLookUp, type ValueSource } from '../../src/index';

/** The type of a field, or the field without its key. */
type CaseField = FieldType | Omit<RuleField, 'key'>;

type CaseFields = Readonly<Record<string, CaseField>> | readonly RuleField[];

/** A row; settings are beside its cells. A condition is its operator, followed by the arguments. */
interface CaseRow extends NonNullable<RuleRow['settings']> {
  readonly id?: string;
  readonly if?: Readonly<Record<string, readonly [op: string, ...args: unknown[]]>>;
  readonly then?: Readonly<Record<string, unknown>>;
}

/** A value of the workspace. An archived one is found by its id and no longer by its name. */
interface CaseValue extends StoredValue {
  readonly archived?: boolean;
}

/** One input and its answer: an output, or a failure. Omitted parts are not compared. */
interface CaseAnswer {
  readonly input?: unknown;
  /** The clock, ISO 8601. Default: that of the operators' examples. */
  readonly at?: string;
  /** The values of the workspace from this answer on; the rule is not recompiled. */
  readonly values?: readonly CaseValue[];
  readonly output?: unknown;
  readonly matched?: readonly number[];
  readonly explain?: 'brief' | 'all';
  readonly audience?: Audience;
  readonly explanation?: unknown;
  readonly fails?: CaseFailure;
}

interface CaseFailure {
  readonly reason: string;
  readonly message?: string;
  readonly row?: number;
  readonly column?: string;
  /** The line of the formula and the marks under the location. */
  readonly caret?: readonly string[];
}

/** A case of `cases/tables/*.json`: a table, and either its answers or its problems. */
export interface TableCase {
  readonly name: string;
  /** Statements of docs/specs/engine.md that it demonstrates. */
  readonly statements: readonly string[];
  /** By key; a list of whole fields if a key must occur twice. */
  readonly inputs?: CaseFields;
  readonly outputs?: CaseFields;
  readonly rows?: readonly CaseRow[];
  readonly groups?: Readonly<Record<string, RuleGroup>>;
  readonly settings?: RuleTable['settings'];
  readonly values?: readonly CaseValue[];
  readonly answers?: readonly CaseAnswer[];
  readonly problems?: readonly Readonly<Record<string, unknown>>[];
}

/** The rule document of a case. */
export const tableOf = ({ inputs = {}, outputs = {}, rows = [], groups, settings }: TableCase): RuleTable => ({
  requestSchema: fieldsOf(inputs),
  responseSchema: fieldsOf(outputs),
  conditions: rows.map(rowOf),
  ...(groups === undefined ? {} : { groups: { ...groups } }),
  ...(settings === undefined ? {} : { settings }),
});

const fieldsOf = (fields: CaseFields): RuleField[] =>
  isWhole(fields) ? [...fields] : Object.entries(fields).map(fieldOf);

const isWhole = (fields: CaseFields): fields is readonly RuleField[] => Array.isArray(fields);

const fieldOf = ([key, field]: [string, CaseField]): RuleField =>
  typeof field === 'string' ? { key, type: field } : { key, ...field };

const rowOf = ({ id, if: conditions = {}, then = {}, ...settings }: CaseRow): RuleRow => ({
  ...(id === undefined ? {} : { id }),
  request: Object.fromEntries(Object.entries(conditions).map(([key, [op, ...args]]) => [key, { op, args }])),
  response: Object.fromEntries(Object.entries(then).map(([key, value]) => [key, { value }])),
  settings,
});

/** The values of a case, which may change while a rule uses them. */
export class CaseValues implements ValueSource, ValueLookUp {
  revision = 0;

  constructor(private values: readonly CaseValue[]) {}

  readonly get = (id: string): StoredValue | undefined => this.values.find((value) => value.id === id);
  readonly byId = this.get;
  readonly byName = (name: string): StoredValue | undefined =>
    this.values.find((value) => value.name === name && value.archived !== true);

  change(values: readonly CaseValue[]): void {
    this.values = values;
    this.revision += 1;
  }
}
