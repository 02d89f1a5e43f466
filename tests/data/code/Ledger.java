package org.example.ledger;

import java.util.List;

/**
 * Entries in the order in which they were made.
 */
public final class Ledger implements Book {
    private static final int LIMIT = 10;

    private final List<Entry> entries;

    public Ledger(List<Entry> entries) {
        this.entries = entries;
    }

    @Override
    @Deprecated
    public int total(int from) throws LedgerException {
        int sum = 0;
        for (Entry entry : entries) {
            sum += entry.amount();
        }
        return sum;
    }

    enum Side {
        DEBIT,
        CREDIT
    }
}

interface Book {
    /** Sum of all from an index on. */
    int total(int from);
}
