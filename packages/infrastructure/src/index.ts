export { openAuthenticator } from './open-authenticator';
export { openBroker } from './open-broker';
export { openDecisions } from './open-decisions';
export { openEvaluationThreads } from './open-evaluation-threads';
export { openRequester } from './open-requester';
export { openResponder } from './open-responder';
export { openStores } from './open-stores';
