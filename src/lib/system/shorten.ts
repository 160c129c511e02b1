const head = 80
const tail = 600

/** Long texts keep their beginning and their end: virt-operator prints a whole object first, the cause is at the end (lab 13). */
export function shorten(text: string): string {
  return text.length <= head + tail + 40 ? text : `${text.slice(0, head)} […] ${text.slice(-tail)}`
}
