// ad-hoc-sign FILE: gives an executable of macOS the signature without a name that arm64 asks for, as `codesign -s - FILE` does there.
// Then it reads the file again and compares each page with its digest in the signature, for a wrong one is worse than none.
package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"

	"github.com/blacktop/go-macho"
	"github.com/blacktop/go-macho/pkg/codesign"
	"github.com/blacktop/go-macho/pkg/codesign/types"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ad-hoc-sign FILE")
		os.Exit(2)
	}
	if err := signed(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func signed(file string) error {
	program, err := macho.Open(file)
	if err != nil {
		return err
	}
	defer program.Close()
	fillGaps(program.Segments())
	if err := program.CodeSign(&codesign.Config{ID: "kvup", Flags: types.ADHOC}); err != nil {
		return err
	}
	if err := program.Save(file + ".signed"); err != nil {
		return err
	}
	if err := verified(file + ".signed"); err != nil {
		return err
	}
	return os.Rename(file+".signed", file)
}

// fillGaps lets each segment end where the next one begins: what is saved has no gaps, and the one that Node adds is not a whole page.
func fillGaps(segments macho.Segments) {
	for at, segment := range segments {
		if at+1 == len(segments) || segment.Filesz == 0 {
			continue
		}
		if gap := segments[at+1].Offset - segment.Offset; gap > segment.Filesz && gap <= segment.Memsz {
			segment.Filesz = gap
		}
	}
}

func verified(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	program, err := macho.NewFile(bytes.NewReader(content))
	if err != nil {
		return err
	}
	signature := program.CodeSignature()
	if signature == nil || len(signature.CodeDirectories) == 0 {
		return fmt.Errorf("%s has no signature", file)
	}
	if end := signature.Offset + signature.Size; int(end) != len(content) {
		return fmt.Errorf("the signature of %s ends at %d of %d bytes", file, end, len(content))
	}
	for _, directory := range signature.CodeDirectories {
		header := directory.Header
		if header.Flags&types.ADHOC == 0 || header.CodeLimit != signature.Offset {
			return fmt.Errorf("the signature of %s is for %d bytes with flags %s", file, header.CodeLimit, header.Flags)
		}
		page := uint32(1) << header.PageSize
		if uint32(len(directory.CodeSlots)) != (header.CodeLimit+page-1)/page {
			return fmt.Errorf("the signature of %s has %d pages", file, len(directory.CodeSlots))
		}
		for at, slot := range directory.CodeSlots {
			from := uint32(at) * page
			sum := sha256.Sum256(content[from:min(from+page, header.CodeLimit)])
			if !bytes.Equal(sum[:], slot.Hash) {
				return fmt.Errorf("page %d of %s does not fit its signature", at, file)
			}
		}
	}
	return nil
}
