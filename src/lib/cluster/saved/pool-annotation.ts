/** What an OpenShift pool made of a node, and is about to make: where they differ it is about to reboot (night C4). */
export const poolAnnotation = /^machineconfiguration\.openshift\.io\/(?:current|desired)Config$/u
