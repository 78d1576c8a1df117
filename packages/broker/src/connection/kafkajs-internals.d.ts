/** The one private module of the client library that this package touches; see idle-timer.ts. */
declare module 'kafkajs/src/network/requestQueue' {
  class RequestQueue {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
  export = RequestQueue;
}
