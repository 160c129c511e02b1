/** An object has 1.5 MB at most. */
const longestLine = 64 * 1024 * 1024

/** The lines of a stream of bytes, whole however they were cut on the way. Blank ones are left out. Throws for one without an end. */
export async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun = ''
  for await (const piece of bytes) {
    const parts = decoder.decode(piece, { stream: true }).split('\n')
    parts[0] = begun + (parts[0] ?? '')
    begun = parts.pop() ?? ''
    if (begun.length > longestLine) throw new Error('a line of the answer is longer than 64 MB')
    for (const line of parts) if (line.trim() !== '') yield line
  }
  begun += decoder.decode()
  if (begun.trim() !== '') yield begun
}
