export { accessOf } from './access-of';
export { openBroker, openRequester, openResponder } from './open-broker';
export { openDecisions } from './open-decisions';
export { openEvaluationThreads } from './open-evaluation-threads';
export { openAuthenticator, openStores } from './open-stores';
