export { type AuthenticatorOptions, openAuthenticator } from './open-authenticator';
export { type BrokerConfig, openBroker } from './open-broker';
export { type DecisionsConfig, openDecisions } from './open-decisions';
export { type EvaluationConfig, openEvaluationThreads } from './open-evaluation-threads';
export { openRequester, type RequesterConfig } from './open-requester';
export { openResponder } from './open-responder';
export { openStores, type StoreConfig, type Stores } from './open-stores';
export { type Opening } from './opening';
