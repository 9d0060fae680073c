/** Bytes as they are typed: hex, or text with escapes. What is neither is a fault that names the place. */

export type ByteReading = { readonly bytes: Uint8Array } | { readonly fault: string }

const ESCAPES: Readonly<Record<string, number>> = { r: 13, n: 10, t: 9, '0': 0, '\\': 0x5c }

/** `ff 01 86`, `ff0186` or `ff:01:86`. */
export function readHex(text: string): ByteReading {
  const digits = text.replace(/0x(?=[0-9a-f]{2})|[\s:,]/gi, '')
  if (!/^[0-9a-fA-F]*$/.test(digits)) return { fault: `"${text}" has more than hex digits in it` }
  if (digits.length === 0) return { fault: 'there are no bytes in it' }
  if (digits.length % 2 === 1) return { fault: `"${text}" has an odd number of hex digits` }
  return { bytes: Buffer.from(digits, 'hex') }
}

/** Text in UTF-8, with \r, \n, \t, \0, \\ and \xNN. */
export function readEscapedText(text: string): ByteReading {
  const parts: Uint8Array[] = []
  for (const [part] of text.matchAll(/\\x[0-9a-fA-F]{2}|\\.?|[^\\]+/gs)) {
    if (!part.startsWith('\\')) parts.push(Buffer.from(part))
    else if (part.length === 4) parts.push(Uint8Array.of(Number.parseInt(part.slice(2), 16)))
    else {
      const byte = ESCAPES[part.slice(1)]
      if (byte === undefined)
        return { fault: `"${part}" is no escape: write \\r, \\n, \\t, \\0, \\\\ or \\xNN` }
      parts.push(Uint8Array.of(byte))
    }
  }
  return parts.length === 0 ? { fault: 'there are no bytes in it' } : { bytes: Buffer.concat(parts) }
}
