/** What goes wrong with OLM. Plain data, so that a scenario can be written down. */
export interface OlmFaults {
  /** Nothing in the namespace is resolved: what the resolver says (ocp 2.1). */
  resolutionFailed?: string | undefined
  /** Bundles are not unpacked within their ten minutes: what the registry says. The failed Job stays when this is lifted (ocp 7 #4). */
  bundleUnpackFailed?: string | undefined
  /** Plans that are executed end as Failed, for good: what the API server says (ocp 2.2). */
  planFailed?: string | undefined
  /** For so many ms after it was made, a CSV is Failed and Pending by turns (ocp 2.4). */
  csvFailsFor?: number | undefined
  /** A CSV that is installed now never gets further than Failed: InstallCheckFailed. */
  csvFails?: boolean | undefined
  /** Somebody overrides what the operator that is installed says in its OperatorCondition: it may not be replaced, in these words (ocp 2.5). */
  held?: string | undefined
  /** The catalog's pod does not answer: CatalogSources are TRANSIENT_FAILURE. */
  catalogNotReady?: boolean | undefined
  /** So many ms pass between the creation of a plan and its status, so that who approves at once has a second plan made (ocp 2.3 #5). */
  planStatusAfter?: number | undefined
}
