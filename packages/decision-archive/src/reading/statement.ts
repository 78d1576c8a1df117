import { type Search } from '@decision/decision-logs';
import { type Question } from '../engine/engine';

/** A query on objects. */
export interface ArchiveQuestion extends Question {
  /** Whether it reads document columns. */
  readonly readsDocuments: boolean;
}

/** Bound values of a statement under construction, so that no input becomes part of its text. */
export class StatementValues {
  private readonly parameters: (string | number | null)[] = [];
  private readonly nodes: Search[] = [];
  /** Whether the statement reads document columns; set by the code that adds such a part. */
  readsDocuments = false;

  /** The parameter for a text or number. */
  readonly bind = (value: string | number | null): string => `$${this.parameters.push(value)}`;

  /** A list of texts, as a relation of one column. */
  readonly bindTexts = (values: readonly string[]): string =>
    `(SELECT unnest(from_json(${this.bind(JSON.stringify(values))}::JSON, '["VARCHAR"]')))`;

  /** A list of whole numbers, likewise. */
  readonly bindNumbers = (values: readonly number[]): string =>
    `(SELECT unnest(from_json(${this.bind(JSON.stringify(values))}::JSON, '["BIGINT"]')))`;

  /** The position of a part of the search that the engine's process tests documents with. */
  readonly bindNode = (search: Search): string => String(this.nodes.push(search) - 1);

  question(sql: string): ArchiveQuestion {
    return { sql, parameters: this.parameters, nodes: this.nodes, readsDocuments: this.readsDocuments };
  }
}
