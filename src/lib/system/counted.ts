/** `1 node is`, `3 nodes are`: how many, and the verb that goes with it. */
export function counted(count: number, noun: string, verb?: readonly [one: string, many: string]): string {
  const words = `${count} ${count === 1 ? noun : `${noun}s`}`
  return verb ? `${words} ${count === 1 ? verb[0] : verb[1]}` : words
}
