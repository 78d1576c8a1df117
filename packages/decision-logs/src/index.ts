export { type DecisionRecord, type ProducerCount, readMessage } from './records';
export { parseSearch } from './search/parse-search';
export { matches, type SearchedRecord } from './search/matches';
export {
  type Comparison,
  type ComparisonOperator,
  type Literal,
  type Search,
  type SearchField,
} from './search/syntax-tree';
