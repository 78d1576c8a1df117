import { type Search } from '@decision/decision-logs';
import { type Question } from '../engine/engine';

/** A question to objects. */
export interface ArchiveQuestion extends Question {
  /** Whether it reads columns that are documents. */
  readonly readsDocuments: boolean;
}

/** Values of a statement that is being written. Nothing that was asked for stands in its text. */
export class StatementValues {
  private readonly parameters: (string | number | null)[] = [];
  private readonly nodes: Search[] = [];
  /** Whether the statement reads columns that are documents; who writes such a part of it sets this. */
  readsDocuments = false;

  /** The name of a text or number. */
  readonly bind = (value: string | number | null): string => `$${this.parameters.push(value)}`;

  /** A list of texts, as a relation of one column. */
  readonly bindTexts = (values: readonly string[]): string =>
    `(SELECT unnest(from_json(${this.bind(JSON.stringify(values))}::JSON, '["VARCHAR"]')))`;

  /** A list of whole numbers, likewise. */
  readonly bindNumbers = (values: readonly number[]): string =>
    `(SELECT unnest(from_json(${this.bind(JSON.stringify(values))}::JSON, '["BIGINT"]')))`;

  /** The position of a part of the search, which the engine's process looks into documents with. */
  readonly bindNode = (search: Search): string => String(this.nodes.push(search) - 1);

  question(sql: string): ArchiveQuestion {
    return { sql, parameters: this.parameters, nodes: this.nodes, readsDocuments: this.readsDocuments };
  }
}
