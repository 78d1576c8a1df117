export { withPages } from './pages';
export { timeOfDecisionId } from './decision-ids';
export type {
  DecisionAnswers,
  DecisionFilters,
  DecisionGroup,
  DecisionItemRecord,
  DecisionMembers,
  DecisionOrder,
  DecisionPage,
  DecisionPosition,
  DecisionSort,
  DecisionSums,
  FoundDecision,
  MissingMessages,
  MissingOptions,
  SummaryBucket,
  SummaryDimension,
  SummarySplit,
} from './questions';
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
